// What the spelling of a host tells, without any list: scripts that are mixed to deceive, labels
// that look like ASCII ones, names that belong to a local network.
//
// Scripts are judged label by label, never across a dot, so that a name under a top-level domain
// of another script is nothing special. Tuned against legitimate names (tests/safety/link):
//   mixed_script  one label has letters of several scripts that no writing system uses together:
//                 more than UTS #39's "moderately restrictive" allows. Latin may stand with one
//                 other script, but not with Cyrillic or Greek; Japanese, Chinese and Korean with
//                 Latin are whole systems.
//   confusable    a label is not ASCII but looks as if it were (its UTS #39 skeleton is ASCII), and
//                 has a letter that is not at home under its top-level domain: safety/link/
//                 confusables.h.
// Source: UTS #39 sections 4 (skeleton), 5.1, 5.2 (restriction levels); RFC 6761, 6762 with
// appendix G, 7686, 8375, 9476 and ICANN's reservation of "internal" (local names).
//
// Threads: pure function. Blocks: never. Limits: linear time.
#pragma once

#include <string_view>

namespace han::safety {

struct HostFeatures {
  bool mixed_script = false;
  bool confusable = false;
  bool punycode = false;      // an A-label ("xn--") is in it
  bool single_label = false;  // a name without a dot: resolved by search lists and host files
  // A name of a local network or of an overlay, which the public DNS does not hold. Names that
  // exist nowhere (test, example, invalid) are none of these.
  bool local_name = false;

  bool operator==(const HostFeatures&) const = default;
};

// Requires: as PolicyKey::host() is: lower case, A-labels, no trailing dot. Addresses have none.
HostFeatures host_features(std::string_view ahost);

}  // namespace han::safety
