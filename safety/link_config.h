// LinksConfig: the `links` section of a config: what each finding about a link does, which networks
// and schemes are meant, and whether names are resolved.
//
//     links:
//       dns: required          # required | off; off: names are judged without their addresses
//       links_max: 200         # links of one text or URL, 1..1000; more: indeterminate(limit)
//       schemes: [http, https, ftp, mailto, tel]   # no finding; any other one is
//       networks: {block: [203.0.113.0/24], allow: [10.1.0.0/16]}
//       actions: {confusable: block, userinfo: monitor, port: ignore}
//
// Findings, their rule ids and what they do when the config says nothing:
//
//     address       link.address.<class>    block    the host is, or resolves to, an address that
//                                                    is not global, or is in networks.block
//     scheme        link.scheme             block    a scheme that acts on the reader's side
//     other_scheme  link.other_scheme       monitor  any other that is not one of `schemes`
//     invalid       link.invalid            block    no URL: readers could differ on its host
//     userinfo      link.userinfo           monitor  a name or password before the host
//     port          link.port               ignore   a port that is not the scheme's own
//     confusable    link.confusable         block    a label that looks like an ASCII one
//     mixed_script  link.mixed_script       block    scripts in one label that no language mixes
//     punycode      link.punycode           ignore   a label that is not ASCII
//     single_label  link.single_label       monitor  a host without a dot
//     local_name    link.local_name         block    localhost, .local, .internal, .onion, ...
//     obfuscated    link.obfuscated         monitor  written so that programs overlook it (hxxp)
//     no_such_name  link.dns.no_such_name   monitor  the host does not exist
//     no_data       link.dns.no_data        monitor  the host has no address
//     stale         link.dns.stale          monitor  judged by an answer past its time
//
// An IPv4 address that stands alone in a text, without scheme, port and path, or with the length of
// a network ("10.0.0.0/8"), is noted for its class and not blocked, whatever the action of
// `address`; networks.block still counts.
// address, scheme and invalid cannot be ignored. Schemes that run or read something on the reader's
// side (javascript, data, file, ...) cannot be listed.
//
// Threads: values and pure functions. Blocks: never.
// Fails:   read_links_config throws ConfigError with the line and the field.
// Limits:  1,000 networks a list, 64 schemes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "safety/base/ip_address.h"
#include "safety/yaml_file.h"

namespace han::safety {

enum class LinkFinding : std::uint8_t {
  kAddress,
  kScheme,
  kOtherScheme,
  kInvalid,
  kUserinfo,
  kPort,
  kConfusable,
  kMixedScript,
  kPunycode,
  kSingleLabel,
  kLocalName,
  kObfuscated,
  kNoSuchName,
  kNoData,
  kStale,
};
inline constexpr std::size_t kLinkFindings = 15;

// The word in the config, and the id in verdicts; of an address "link.address." and its class.
std::string_view config_word(LinkFinding finding);
std::string_view rule_id(LinkFinding finding);
inline constexpr std::string_view kLinkAddressPrefix = "link.address.";
// Of an address in networks.block.
inline constexpr std::string_view kLinkAddressBlocked = "link.address.blocked";

enum class FindingAction : std::uint8_t { kBlock, kMonitor, kIgnore };

std::string_view to_string(FindingAction action);

enum class DnsUse : std::uint8_t { kRequired, kOff };

struct LinksConfig {
  DnsUse dns = DnsUse::kRequired;
  std::size_t links_max = 200;
  std::vector<std::string> schemes = {"ftp", "http", "https", "mailto", "tel"};  // sorted
  // Sorted, each once.
  std::vector<IpPrefix> networks_block;
  std::vector<IpPrefix> networks_allow;
  // By finding.
  std::array<FindingAction, kLinkFindings> actions = default_actions();

  FindingAction action(LinkFinding finding) const {
    return actions[static_cast<std::size_t>(finding)];
  }
  void set_action(LinkFinding finding, FindingAction action) {
    actions[static_cast<std::size_t>(finding)] = action;
  }
  // What the scheme is found to be, if anything. `scheme`: lower case, without ':'.
  std::optional<LinkFinding> scheme_finding(std::string_view scheme) const;

  static std::array<FindingAction, kLinkFindings> default_actions();
};

LinksConfig read_links_config(const YamlNode& node);

// Every effective value, one "field=value" a line: input of config_version.
std::string canonical_form(const LinksConfig& config);

}  // namespace han::safety
