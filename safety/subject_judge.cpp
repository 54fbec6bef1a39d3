#include "safety/subject_judge.h"

#include <algorithm>
#include <utility>

#include "safety/base/check.h"
#include "safety/base/hex.h"
#include "safety/link/extract.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

const DnsFacts* facts_or_null(const std::optional<HostFacts>& facts, DnsFacts HostFacts::*half) {
  return facts ? &((*facts).*half) : nullptr;
}

}  // namespace

SubjectJudge::SubjectJudge(std::shared_ptr<const Bundle> bundle, Config config,
                           std::shared_ptr<const PepperSet> peppers, HostResolver* resolver)
    : texts_(bundle->text_engine(), config),
      links_(std::move(bundle), std::move(config), peppers.get()),
      peppers_(std::move(peppers)),
      resolver_(resolver) {
  SAFETY_CHECK(peppers_ != nullptr);
}

SubjectJudge::JudgedLink SubjectJudge::judge_stable(std::string_view raw_url) const {
  JudgedLink link;
  link.subject = link_subject(raw_url);
  const HmacKey& key = peppers_->current.key;
  link.url_hash = to_hex(link.subject ? url_hash(key, *link.subject) : url_hash(key, raw_url));
  link.evidence = link.subject ? links_.judge_stable(*link.subject) : links_.judge_invalid(raw_url);
  return link;
}

void SubjectJudge::judge_resolved(std::vector<JudgedLink>& links) const {
  std::vector<std::string> hosts;
  for (const JudgedLink& link : links) {
    if (link.evidence.needs_dns) hosts.push_back(link.subject->host);
  }
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  std::vector<HostFacts> facts;
  if (resolver_ != nullptr && !hosts.empty()) {
    facts = resolver_->resolve(hosts);
    SAFETY_CHECK(facts.size() == hosts.size());
  }
  for (JudgedLink& link : links) {
    if (link.evidence.needs_dns && !facts.empty()) {
      const auto at = std::lower_bound(hosts.begin(), hosts.end(), link.subject->host);
      link.facts = facts[static_cast<std::size_t>(at - hosts.begin())];
    }
    link.verdict = links_.judge(link.evidence, facts_or_null(link.facts, &HostFacts::a),
                                facts_or_null(link.facts, &HostFacts::aaaa));
  }
}

SubjectJudge::JudgedLink SubjectJudge::judge_link(std::string_view raw_url) const {
  std::vector<JudgedLink> links;
  links.push_back(judge_stable(raw_url));
  judge_resolved(links);
  return std::move(links.front());
}

SubjectJudge::JudgedText SubjectJudge::judge_text(std::string_view raw_text,
                                                  TextScratch& scratch) const {
  TextJudge::Judged text = texts_.judge(raw_text, scratch);
  JudgedText judged{std::move(text.evidence), std::move(text.verdict), {}, text.layer};
  if (!judged.evidence.has_links) return judged;
  std::string buffer;
  ExtractLimits limits;
  limits.links_max = config().links.links_max;
  Extraction extraction = extract_links(repair_utf8(raw_text, buffer), limits);
  std::erase_if(extraction.links,
                [](const ExtractedLink& link) { return link.reading == Reading::kNowhere; });
  std::vector<JudgedLink> links;
  for (const ExtractedLink& link : extraction.links) links.push_back(judge_stable(link.url));
  judge_resolved(links);
  std::vector<TextLink> parts;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const ExtractedLink& place = extraction.links[i];
    parts.push_back({links[i].url_hash, links[i].verdict, place.obfuscated,
                     place.reading == Reading::kAlternate, place.is_bare_address});
    judged.links.push_back({place.start, place.end, place.obfuscated, std::move(links[i].url_hash),
                            std::move(links[i].verdict)});
  }
  judged.verdict = links_.join(std::move(judged.verdict), parts, extraction.is_over_budget);
  return judged;
}

}  // namespace han::safety
