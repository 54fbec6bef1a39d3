// DnsFacts: what became of one question about the host of a link, as the judge needs it: from the
// resolver or from a cached answer.
//
// Facts say nothing about good or bad: that is judged anew each time (SPEC I10). Names of the CNAME
// chain stand here only as HMACs of their suffixes, as they are cached.
//
// Threads: values. Blocks: never.
#pragma once

#include <string>
#include <vector>

#include "safety/base/digest.h"
#include "safety/base/ip_address.h"
#include "safety/evidence.h"

namespace han::safety {

struct DnsFacts {
  enum class Kind { kAddresses, kNoData, kNoSuchName, kFailed };

  Kind kind = Kind::kFailed;
  std::vector<IpAddress> addresses;
  // For each name of the chain suffix_hashes() under the pepper `pepper_id`.
  std::vector<std::vector<Digest>> chain;
  std::string pepper_id;
  // Of kFailed: a word such as dns_timeout.
  std::string failure = std::string(kReasonEvidence);
  bool is_stale = false;

  bool operator==(const DnsFacts&) const = default;
};

// Both questions about one host.
struct HostFacts {
  DnsFacts a;
  DnsFacts aaaa;

  bool operator==(const HostFacts&) const = default;
};

}  // namespace han::safety
