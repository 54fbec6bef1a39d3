#include "safety/link_judge_dns.h"

#include <variant>

#include "safety/link_subject.h"

namespace han::safety {
namespace {

DnsFacts::Kind kind_of(dns::Answer::Kind kind) {
  switch (kind) {
    case dns::Answer::Kind::kAddresses:
      return DnsFacts::Kind::kAddresses;
    case dns::Answer::Kind::kNoData:
      return DnsFacts::Kind::kNoData;
    case dns::Answer::Kind::kNoSuchName:
      return DnsFacts::Kind::kNoSuchName;
  }
  return DnsFacts::Kind::kFailed;
}

}  // namespace

DnsFacts facts_of(const dns::Resolution& resolution, const Pepper& pepper) {
  DnsFacts facts;
  if (const auto* failure = std::get_if<dns::Failure>(&resolution)) {
    facts.failure = to_string(*failure);
    return facts;
  }
  const auto& answer = std::get<dns::Answer>(resolution);
  facts.kind = kind_of(answer.kind);
  facts.failure.clear();
  facts.addresses = answer.addresses;
  facts.pepper_id = pepper.id;
  for (const std::string& name : answer.chain) {
    facts.chain.push_back(suffix_hashes(pepper.key, name));
  }
  facts.is_stale = answer.is_stale;
  return facts;
}

}  // namespace han::safety
