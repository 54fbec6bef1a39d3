#include "safety/link_judge.h"

#include <algorithm>
#include <utility>

#include "dns/address_class.h"
#include "safety/base/check.h"
#include "safety/bundle.h"
#include "safety/link/canonical_host.h"
#include "safety/link/host_features.h"
#include "safety/link/link_lists.h"
#include "safety/link/list_chain_index.h"
#include "safety/policy.h"

namespace han::safety {
namespace {

// The lists that decide are hits; those that are outranked, or only watch, are recorded.
void add_match(const ListMatch& match, bool is_lifted, LinkFindings& found) {
  for (const ListHit& hit : match.hits) {
    auto& ids = hit.decides && !is_lifted ? found.hits : found.monitor;
    ids.emplace_back(hit.id);
  }
}

ListMatch match_key(const LinkLists& lists, const PolicyKey& key,
                    const std::optional<IpAddress>& address) {
  const KeyExpressions expressions = key.expressions();
  return lists.match({key.host(), {expressions.begin(), expressions.end()}, address});
}

void add_name(std::string_view host, LinkFindings& found) {
  const HostFeatures features = host_features(host);
  if (features.confusable) found.add(LinkFinding::kConfusable);
  if (features.mixed_script) found.add(LinkFinding::kMixedScript);
  if (features.punycode) found.add(LinkFinding::kPunycode);
  if (features.single_label) found.add(LinkFinding::kSingleLabel);
  if (features.local_name) found.add(LinkFinding::kLocalName);
}

// Lists of networks for the address that lies inside this one.
void add_embedded(const LinkLists& lists, const IpAddress& address, bool is_lifted,
                  LinkFindings& found) {
  const auto embedded = dns::classify(address).embedded;
  if (embedded) add_match(lists.match_address(*embedded), is_lifted, found);
}

// All lists for a link whose address holds another one, as if that stood there.
void add_embedded_link(const LinkLists& lists, const LinkSubject& subject, bool is_lifted,
                       LinkFindings& found) {
  const auto embedded = dns::classify(*subject.address).embedded;
  if (!embedded) return;
  const PolicyKey& key = subject.key;
  const std::string host = embedded->is_v4() ? embedded->str() : "[" + embedded->str() + "]";
  const auto query = key.has_query() ? std::optional(key.query()) : std::nullopt;
  const PolicyKey inner(key.scheme(), host, true, key.path(), query);
  add_match(match_key(lists, inner, embedded), is_lifted, found);
}

bool is_lifted(const LinkEvidence& evidence, const RuleTable& rules) {
  return std::any_of(evidence.hits.begin(), evidence.hits.end(), [&](const std::string& id) {
    const RulePolicy* rule = rules.find(id);
    return rule != nullptr && rule->action == RuleAction::kLift;
  });
}

}  // namespace

struct LinkJudge::Chains {
  struct OfPepper {
    std::string pepper_id;
    ListChainIndex index;
  };
  std::vector<OfPepper> peppers;

  const ListChainIndex* find(std::string_view pepper_id) const {
    for (const OfPepper& pepper : peppers) {
      if (pepper.pepper_id == pepper_id) return &pepper.index;
    }
    return nullptr;
  }
};

LinkJudge::LinkJudge(std::shared_ptr<const Bundle> bundle, Config config, const PepperSet* peppers)
    : bundle_(std::move(bundle)),
      config_(std::move(config)),
      networks_(config_.links.networks_block, config_.links.networks_allow) {
  SAFETY_CHECK(bundle_ != nullptr);
  if (peppers == nullptr || config_.links.dns == DnsUse::kOff) return;
  auto chains = std::make_unique<Chains>();
  const auto add = [&](const Pepper& pepper) {
    chains->peppers.push_back({pepper.id, ListChainIndex(bundle_->lists(), pepper.key)});
  };
  add(peppers->current);
  if (peppers->previous) add(*peppers->previous);
  chains_ = std::move(chains);
}

LinkJudge::LinkJudge(LinkJudge&&) noexcept = default;
LinkJudge::~LinkJudge() = default;

void LinkJudge::add_class(const IpAddress& address, LinkFindings& found) const {
  switch (networks_.judge(address)) {
    case dns::NetworkPolicy::Stance::kBlocked:
      found.add_address(kLinkAddressBlocked.substr(kLinkAddressPrefix.size()));
      break;
    case dns::NetworkPolicy::Stance::kNotGlobal:
      found.add_address(dns::classify(address).name);
      break;
    case dns::NetworkPolicy::Stance::kAllowed:
    case dns::NetworkPolicy::Stance::kGlobal:
      break;
  }
}

ListMatch LinkJudge::match_lists(const LinkSubject& subject) const {
  return match_key(bundle_->lists(), subject.key, subject.address);
}

LinkEvidence LinkJudge::judge_stable(const LinkSubject& subject) const {
  LinkFindings found;
  const Url& url = subject.url;
  if (const auto scheme = config_.links.scheme_finding(url.scheme())) found.add(*scheme);
  if (url.has_credentials()) found.add(LinkFinding::kUserinfo);
  if (url.port()) found.add(LinkFinding::kPort);
  const ListMatch match = match_lists(subject);
  add_match(match, false, found);
  if (subject.address) {
    add_class(*subject.address, found);
    add_embedded_link(bundle_->lists(), subject, match.is_lifted(), found);
  } else if (!subject.host.empty() && !match.is_lifted()) {
    add_name(subject.host, found);
  }
  const bool needs_dns = !subject.host.empty() && config_.links.dns == DnsUse::kRequired;
  return decide_link(found, needs_dns, bundle_->rules(), config_);
}

LinkEvidence LinkJudge::judge_invalid(std::string_view raw_url) const {
  LinkFindings found;
  if (raw_url.size() > kUrlBytesMax) {
    found.failure = kReasonLimit;
    return decide_link(found, false, bundle_->rules(), config_);
  }
  found.add(LinkFinding::kInvalid);
  // A program that is less strict than a browser may open it.
  if (const auto key = policy_key(raw_url)) {
    add_match(match_key(bundle_->lists(), *key, address_of_host(key->host())), false, found);
  }
  return decide_link(found, false, bundle_->rules(), config_);
}

bool LinkJudge::is_usable(const LinkEvidence& evidence) const {
  const bool may_need_dns = config_.links.dns == DnsUse::kRequired;
  return (may_need_dns || !evidence.needs_dns) && is_usable_link(evidence, bundle_->rules());
}

void LinkJudge::add_facts(const DnsFacts& facts, bool is_lifted, LinkFindings& found) const {
  for (const IpAddress& address : facts.addresses) {
    add_class(address, found);
    add_match(bundle_->lists().match_address(address), is_lifted, found);
    add_embedded(bundle_->lists(), address, is_lifted, found);
  }
  const ListChainIndex* index = chains_ ? chains_->find(facts.pepper_id) : nullptr;
  for (const std::vector<Digest>& suffixes : facts.chain) {
    if (index == nullptr) {
      found.failure = kReasonEvidence;
    } else {
      add_match(index->match(suffixes), false, found);
    }
  }
  if (facts.is_stale) found.add(LinkFinding::kStale);
  if (facts.kind == DnsFacts::Kind::kFailed && found.failure.empty()) found.failure = facts.failure;
}

LinkFindings LinkJudge::findings_of(const DnsFacts& facts) const {
  LinkFindings found;
  add_facts(facts, false, found);
  return found;
}

Verdict LinkJudge::judge(const LinkEvidence& evidence, const DnsFacts* a,
                         const DnsFacts* aaaa) const {
  LinkFindings resolved;
  if (evidence.needs_dns) {
    const bool lifted = is_lifted(evidence, bundle_->rules());
    bool has_addresses = false;
    bool has_no_name = false;
    for (const DnsFacts* facts : {a, aaaa}) {
      if (facts == nullptr) {
        if (resolved.failure.empty()) resolved.failure = kReasonDnsOff;
        continue;
      }
      add_facts(*facts, lifted, resolved);
      has_addresses |= facts->kind == DnsFacts::Kind::kAddresses;
      has_no_name |= facts->kind == DnsFacts::Kind::kNoSuchName;
    }
    if (!has_addresses && resolved.failure.empty()) {
      resolved.add(has_no_name ? LinkFinding::kNoSuchName : LinkFinding::kNoData);
    }
  }
  return decide_link_verdict(evidence, resolved, bundle_->rules(), config_);
}

Verdict LinkJudge::join(Verdict text, const std::vector<TextLink>& links,
                        bool is_over_budget) const {
  return join_links(std::move(text), links, is_over_budget, config_);
}

}  // namespace han::safety
