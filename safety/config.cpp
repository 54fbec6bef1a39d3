#include "safety/config.h"

#include <cstdint>

#include "safety/base/digest.h"

namespace han::safety {
namespace {

constexpr std::size_t kCategoryOverridesMax = 1000;
constexpr std::int64_t kTextHoursMax = 48;
constexpr std::int64_t kLinkHoursMax = 48;
constexpr std::int64_t kFileDaysMax = 30;
constexpr std::int64_t kDnsSecondsMax = 900;

PolicyConfig read_policy(const YamlNode& node) {
  PolicyConfig policy;
  node.allow_only({"on_indeterminate", "block_severity_min", "categories"});
  if (const auto value = node.find("on_indeterminate")) {
    if (value->text({0, 64}) == "allow") {
      value->fail("'allow' is not possible: an error never allows; write hold or block");
    }
    policy.on_indeterminate =
        value->one_of<Disposition>({{"hold", Disposition::kHold}, {"block", Disposition::kBlock}});
  }
  policy.block_severity_min = static_cast<int>(node.integer_or("block_severity_min", {0, 100}, 0));
  const auto categories = node.find("categories");
  if (!categories) return policy;
  for (const YamlEntry& entry : categories->entries(kCategoryOverridesMax)) {
    if (!is_name(entry.key)) {
      entry.value.fail("a category is 1-64 characters of a-z, 0-9, '.', '_' and '-'");
    }
    policy.categories[entry.key] = entry.value.one_of<RuleAction>(
        {{"block", RuleAction::kBlock}, {"monitor", RuleAction::kMonitor}});
  }
  return policy;
}

TtlConfig read_ttl(const YamlNode& node) {
  TtlConfig ttl;
  node.allow_only({"text_hours", "link_hours", "file_days", "dns_seconds"});
  ttl.text = std::chrono::hours(node.integer_or("text_hours", {1, kTextHoursMax}, kTextHoursMax));
  ttl.link = std::chrono::hours(node.integer_or("link_hours", {1, kLinkHoursMax}, kLinkHoursMax));
  ttl.file = std::chrono::hours(24 * node.integer_or("file_days", {1, kFileDaysMax}, kFileDaysMax));
  ttl.dns =
      std::chrono::seconds(node.integer_or("dns_seconds", {1, kDnsSecondsMax}, kDnsSecondsMax));
  return ttl;
}

LimitsConfig read_limits(const YamlNode& node) {
  LimitsConfig limits;
  node.allow_only({"text_bytes_max"});
  limits.text_bytes_max = static_cast<std::size_t>(
      node.integer_or("text_bytes_max", {1, static_cast<std::int64_t>(kTextBytesMax)}, 65536));
  return limits;
}

Config read_config(const YamlDocument& document) {
  Config config;
  const YamlNode root = document.root();
  root.allow_only({"schema", "policy", "ttl", "limits", "links"});
  root.require_schema(1);
  if (const auto node = root.find("policy")) config.policy = read_policy(*node);
  if (const auto node = root.find("ttl")) config.ttl = read_ttl(*node);
  if (const auto node = root.find("limits")) config.limits = read_limits(*node);
  if (const auto node = root.find("links")) config.links = read_links_config(*node);
  config.version = config_version(config);
  return config;
}

}  // namespace

Config default_config() {
  Config config;
  config.version = config_version(config);
  return config;
}

Config parse_config(const std::string& name, std::string_view text) {
  return read_config(YamlDocument::parse(name, text));
}

Config load_config(const std::string& path) { return read_config(YamlDocument::load(path)); }

std::string config_version(const Config& config) {
  std::string canonical = "han.config.1\n";
  const auto add = [&canonical](std::string_view field, const std::string& value) {
    canonical.append(field).append("=").append(value).append("\n");
  };
  add("on_indeterminate", std::string(to_string(config.policy.on_indeterminate)));
  add("block_severity_min", std::to_string(config.policy.block_severity_min));
  for (const auto& [category, action] : config.policy.categories) {
    add("category." + category, action == RuleAction::kBlock ? "block" : "monitor");
  }
  add("ttl.text", std::to_string(config.ttl.text.count()));
  add("ttl.link", std::to_string(config.ttl.link.count()));
  add("ttl.file", std::to_string(config.ttl.file.count()));
  add("ttl.dns", std::to_string(config.ttl.dns.count()));
  add("text_bytes_max", std::to_string(config.limits.text_bytes_max));
  canonical += canonical_form(config.links);
  return version_string(sha256(canonical));
}

}  // namespace han::safety
