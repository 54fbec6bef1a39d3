// LinkJudge: from a link to its verdict under one bundle and one config.
//
// First the stable part, from the URL alone: lists, url-host rules and the findings of
// link_config.h. It is what the caches keep, and what blocks there needs no DNS. Then, each time
// anew, what the host resolves to (SPEC I10): every address is classified by IANA's registries and
// the config's networks and looked up in the network lists, every name of the CNAME chain in the
// lists of hosts. Any bad address of the set decides. Half an answer is indeterminate unless the
// other half blocks, and so is a name that nobody resolved.
//
// Lists: the most specific entry decides (link_lists.h) and stands among the rules of the verdict;
// the others that hit stand among the monitored ones. When that entry allows, the findings about
// the host's name (confusable, mixed_script, punycode, single_label, local_name) do not count, nor
// do network lists for what the host resolves to. It never lifts an address class, a scheme, a
// finding about another part of the URL, or a list that the chain hits: a chain ends at another
// name.
//
// Threads: immutable after construction; safe to share. Owns: a share of the bundle.
// Blocks:  the constructor hashes every host of the lists once for each pepper.
// Fails:   std::bad_alloc only; what cannot be judged is indeterminate.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dns/network_policy.h"
#include "safety/base/pepper.h"
#include "safety/config.h"
#include "safety/link/link_lists.h"
#include "safety/link_evidence.h"
#include "safety/link_facts.h"
#include "safety/link_subject.h"
#include "safety/verdict.h"

namespace han::safety {

class Bundle;

class LinkJudge {
 public:
  // Without peppers no name of a chain can be looked up: a host that has one is indeterminate.
  LinkJudge(std::shared_ptr<const Bundle> bundle, Config config, const PepperSet* peppers);
  LinkJudge(LinkJudge&&) noexcept;
  ~LinkJudge();

  LinkEvidence judge_stable(const LinkSubject& subject) const;
  // Of a link for which link_subject() has nothing: link.invalid, and indeterminate(limit) when it
  // is longer than kUrlBytesMax, so never allowed.
  LinkEvidence judge_invalid(std::string_view raw_url) const;
  // Whether evidence from a cache or a verdict row may be judged by.
  bool is_usable(const LinkEvidence& evidence) const;

  // The facts are not looked at when the evidence does not need them. Null where it does: nobody
  // asked, which is indeterminate(dns_off).
  Verdict judge(const LinkEvidence& evidence, const DnsFacts* a, const DnsFacts* aaaa) const;
  // The verdict of a text that holds these links; see join_links.
  Verdict join(Verdict text, const std::vector<TextLink>& links, bool is_over_budget) const;

  // For explanations: what the lists say, and what judge() makes of one question's facts before
  // policy. Ids in it live as long as the bundle.
  ListMatch match_lists(const LinkSubject& subject) const;
  LinkFindings findings_of(const DnsFacts& facts) const;

  const Config& config() const { return config_; }
  const Bundle& bundle() const { return *bundle_; }

 private:
  struct Chains;
  void add_class(const IpAddress& address, LinkFindings& found) const;
  // `is_lifted`: lists of networks that hit are recorded and decide nothing.
  void add_facts(const DnsFacts& facts, bool is_lifted, LinkFindings& found) const;

  std::shared_ptr<const Bundle> bundle_;
  Config config_;
  dns::NetworkPolicy networks_;
  std::unique_ptr<const Chains> chains_;  // null without peppers
};

}  // namespace han::safety
