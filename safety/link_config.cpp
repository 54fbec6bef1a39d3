#include "safety/link_config.h"

#include <algorithm>
#include <optional>
#include <span>

namespace han::safety {
namespace {

constexpr std::size_t kNetworksMax = 1000;
constexpr std::size_t kSchemesMax = 64;
constexpr std::int64_t kLinksMax = 1000;

struct FindingRow {
  std::string_view word;
  std::string_view id;
  FindingAction by_default;
  bool may_be_ignored;
};

// In the order of LinkFinding.
constexpr std::array<FindingRow, kLinkFindings> kFindings = {{
    {"address", "link.address", FindingAction::kBlock, false},
    {"scheme", "link.scheme", FindingAction::kBlock, false},
    {"other_scheme", "link.other_scheme", FindingAction::kMonitor, true},
    {"invalid", "link.invalid", FindingAction::kBlock, false},
    {"userinfo", "link.userinfo", FindingAction::kMonitor, true},
    {"port", "link.port", FindingAction::kIgnore, true},
    {"confusable", "link.confusable", FindingAction::kBlock, true},
    {"mixed_script", "link.mixed_script", FindingAction::kBlock, true},
    {"punycode", "link.punycode", FindingAction::kIgnore, true},
    {"single_label", "link.single_label", FindingAction::kMonitor, true},
    {"local_name", "link.local_name", FindingAction::kBlock, true},
    {"obfuscated", "link.obfuscated", FindingAction::kMonitor, true},
    {"no_such_name", "link.dns.no_such_name", FindingAction::kMonitor, true},
    {"no_data", "link.dns.no_data", FindingAction::kMonitor, true},
    {"stale", "link.dns.stale", FindingAction::kMonitor, true},
}};

// What these open runs, or is read, on the reader's own side; no list can make it harmless.
constexpr std::array<std::string_view, 7> kNeverListed = {
    "blob", "data", "file", "filesystem", "javascript", "vbscript", "view-source"};

// These give orders to a program there, or show what is there; the operator may know that they are
// harmless and list them.
constexpr std::array<std::string_view, 16> kActing = {
    "about", "applescript", "chrome", "hcp",    "intent",    "itms-services", "its", "jar",
    "mhtml", "mk",          "res",    "search", "search-ms", "shell",         "smb", "wyciwyg"};
// Programs of a desktop.
constexpr std::string_view kActingPrefix = "ms-";

bool is_one_of(std::string_view scheme, std::span<const std::string_view> schemes) {
  return std::find(schemes.begin(), schemes.end(), scheme) != schemes.end();
}

const FindingRow& row_of(LinkFinding finding) {
  return kFindings[static_cast<std::size_t>(finding)];
}

// RFC 3986 section 3.1, in lower case.
bool is_scheme(std::string_view text) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
         });
}

std::vector<std::string> read_schemes(const YamlNode& node) {
  std::vector<std::string> schemes;
  for (const YamlNode& item : node.items(kSchemesMax)) {
    std::string scheme = item.text({1, 64});
    if (!is_scheme(scheme)) {
      item.fail("a scheme is a lower-case letter and then a-z, 0-9, '+', '-', '.'; no ':'");
    }
    if (is_one_of(scheme, kNeverListed)) {
      item.fail("this scheme acts on the reader's side and is never let through; remove it");
    }
    schemes.push_back(std::move(scheme));
  }
  std::sort(schemes.begin(), schemes.end());
  schemes.erase(std::unique(schemes.begin(), schemes.end()), schemes.end());
  return schemes;
}

std::vector<IpPrefix> read_networks(const YamlNode& node) {
  std::vector<IpPrefix> networks;
  for (const YamlNode& item : node.items(kNetworksMax)) {
    const auto network = IpPrefix::parse(item.text({1, 64}));
    if (!network) {
      item.fail("a network is an address, '/' and a length, with no bit set behind the length");
    }
    networks.push_back(*network);
  }
  std::sort(networks.begin(), networks.end());
  networks.erase(std::unique(networks.begin(), networks.end()), networks.end());
  return networks;
}

void read_network_lists(const YamlNode& node, LinksConfig& config) {
  node.allow_only({"block", "allow"});
  if (const auto list = node.find("block")) config.networks_block = read_networks(*list);
  const auto list = node.find("allow");
  if (!list) return;
  config.networks_allow = read_networks(*list);
  for (const IpPrefix& network : config.networks_allow) {
    if (std::binary_search(config.networks_block.begin(), config.networks_block.end(), network)) {
      list->fail("a network stands in both lists; remove it from one of them");
    }
  }
}

void read_actions(const YamlNode& node, LinksConfig& config) {
  for (const YamlEntry& entry : node.entries(kLinkFindings * 2)) {
    const auto row = std::find_if(kFindings.begin(), kFindings.end(),
                                  [&](const FindingRow& r) { return r.word == entry.key; });
    if (row == kFindings.end()) {
      std::string known;
      for (const FindingRow& finding : kFindings) {
        known.append(known.empty() ? "" : ", ").append(finding.word);
      }
      entry.value.fail("no such finding; known ones are: " + known);
    }
    if (!row->may_be_ignored && entry.value.text({1, 64}) == "ignore") {
      entry.value.fail("cannot be ignored; write block or monitor");
    }
    config.actions[static_cast<std::size_t>(row - kFindings.begin())] =
        entry.value.one_of<FindingAction>({{"block", FindingAction::kBlock},
                                           {"monitor", FindingAction::kMonitor},
                                           {"ignore", FindingAction::kIgnore}});
  }
}

}  // namespace

std::string_view config_word(LinkFinding finding) { return row_of(finding).word; }
std::string_view rule_id(LinkFinding finding) { return row_of(finding).id; }

std::string_view to_string(FindingAction action) {
  switch (action) {
    case FindingAction::kBlock:
      return "block";
    case FindingAction::kMonitor:
      return "monitor";
    case FindingAction::kIgnore:
      break;
  }
  return "ignore";
}

std::optional<LinkFinding> LinksConfig::scheme_finding(std::string_view scheme) const {
  if (std::binary_search(schemes.begin(), schemes.end(), scheme)) return std::nullopt;
  const bool acts = is_one_of(scheme, kNeverListed) || is_one_of(scheme, kActing) ||
                    scheme.starts_with(kActingPrefix);
  return acts ? LinkFinding::kScheme : LinkFinding::kOtherScheme;
}

std::array<FindingAction, kLinkFindings> LinksConfig::default_actions() {
  std::array<FindingAction, kLinkFindings> actions{};
  std::transform(kFindings.begin(), kFindings.end(), actions.begin(),
                 [](const FindingRow& row) { return row.by_default; });
  return actions;
}

LinksConfig read_links_config(const YamlNode& node) {
  LinksConfig config;
  node.allow_only({"dns", "links_max", "schemes", "networks", "actions"});
  if (const auto dns = node.find("dns")) {
    config.dns = dns->one_of<DnsUse>({{"required", DnsUse::kRequired}, {"off", DnsUse::kOff}});
  }
  config.links_max = static_cast<std::size_t>(
      node.integer_or("links_max", {1, kLinksMax}, static_cast<std::int64_t>(config.links_max)));
  if (const auto schemes = node.find("schemes")) config.schemes = read_schemes(*schemes);
  if (const auto networks = node.find("networks")) read_network_lists(*networks, config);
  if (const auto actions = node.find("actions")) read_actions(*actions, config);
  return config;
}

std::string canonical_form(const LinksConfig& config) {
  std::string out;
  const auto add = [&out](std::string_view field, std::string_view value) {
    out.append("links.").append(field).append("=").append(value).append("\n");
  };
  add("dns", config.dns == DnsUse::kRequired ? "required" : "off");
  add("max", std::to_string(config.links_max));
  for (const std::string& scheme : config.schemes) add("scheme", scheme);
  for (const IpPrefix& network : config.networks_block) add("network.block", network.str());
  for (const IpPrefix& network : config.networks_allow) add("network.allow", network.str());
  for (std::size_t i = 0; i < kLinkFindings; ++i) {
    add(std::string("action.").append(kFindings[i].word), to_string(config.actions[i]));
  }
  return out;
}

}  // namespace han::safety
