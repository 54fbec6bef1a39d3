// LinkEvidence: what is thought of a link without asking the DNS, and LinkFindings, from which it
// is made.
//
// The evidence of a link is its stable local policy part: the caches keep it under the versions of
// rules and config, and what its host resolves to is judged anew each time (SPEC I10). It holds
// rule ids, never a URL or a host.
//
// Threads: values. Blocks: never.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "safety/link_config.h"
#include "safety/verdict.h"

namespace han::safety {

// Reasons of an indeterminate link, beside those of safety/evidence.h and of dns/answer.h.
inline constexpr std::string_view kReasonDnsOff = "dns_off";  // the names were not resolved

// Requires: of kAddress an id with its class, of every other finding its rule_id().
struct FindingHit {
  LinkFinding finding;
  std::string id;

  bool operator==(const FindingHit&) const = default;
};

// What was found about a link, or about what its host resolves to, before any policy. In any order,
// repeated or not.
struct LinkFindings {
  std::vector<FindingHit> findings;
  std::vector<std::string> hits;  // ids of enforced lists and rules that decide
  // Ids of shadow lists and rules that hit, and of enforced ones that another one outranks.
  std::vector<std::string> monitor;
  // Empty, or the reason why something could not be found out.
  std::string failure;

  void add(LinkFinding finding) { findings.push_back({finding, std::string(rule_id(finding))}); }
  void add_address(std::string_view address_class) {
    findings.push_back(
        {LinkFinding::kAddress, std::string(kLinkAddressPrefix).append(address_class)});
  }
};

// What a cached entry and a verdict row keep of a link (cache/link_entry.h).
struct LinkEvidence {
  Decision decision = Decision::kIndeterminate;
  std::string reason;                   // as Verdict::reason
  std::vector<std::string> hits;        // enforced lists, rules and findings, sorted, each once
  std::vector<std::string> monitor;     // as LinkFindings::monitor, sorted, each once, no hit
  std::vector<std::string> categories;  // of the hits, sorted, each once
  // The verdict needs to know what the host resolves to.
  bool needs_dns = true;

  bool operator==(const LinkEvidence&) const = default;
};

// A link of a text, for the text's verdict.
struct TextLink {
  std::string url_hash;  // 64 lower-case hex digits
  Verdict verdict;
  bool is_obfuscated = false;
  bool is_alternate = false;     // a longer or shorter reading of another link (link/extract.h)
  bool is_bare_address = false;  // four numbers alone
};

}  // namespace han::safety
