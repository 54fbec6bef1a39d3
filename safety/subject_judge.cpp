#include "safety/subject_judge.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "safety/base/check.h"
#include "safety/base/hex.h"
#include "safety/link/extract.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

ExtractLimits limits_of(const Config& config) { return {.links_max = config.links.links_max}; }

const DnsFacts* facts_or_null(const std::optional<HostFacts>& facts, DnsFacts HostFacts::*half) {
  return facts ? &((*facts).*half) : nullptr;
}

}  // namespace

struct SubjectJudge::OpenText {
  JudgedText judged;
  Extraction extraction;
  std::vector<LinkPart> links;  // of each of the extraction

  std::vector<LinkPart*> parts() {
    std::vector<LinkPart*> all;
    for (LinkPart& link : links) all.push_back(&link);
    return all;
  }
};

struct SubjectJudge::OpenLink {
  JudgedLink judged;
  bool is_over_budget = false;

  std::vector<LinkPart*> parts() {
    std::vector<LinkPart*> all = {&judged.link};
    for (LinkPart& link : judged.nested) all.push_back(&link);
    return all;
  }
};

SubjectJudge::SubjectJudge(std::shared_ptr<const Bundle> bundle, Config config,
                           std::shared_ptr<const PepperSet> peppers, HostResolver* resolver)
    : texts_(bundle->text_engine(), config),
      links_(std::move(bundle), std::move(config), peppers.get()),
      peppers_(std::move(peppers)),
      resolver_(resolver) {
  SAFETY_CHECK(peppers_ != nullptr);
}

SubjectJudge::LinkPart SubjectJudge::judge_stable(std::string_view raw_url) const {
  LinkPart link;
  link.subject = link_subject(raw_url);
  const HmacKey& key = peppers_->current.key;
  link.url_hash = to_hex(link.subject ? url_hash(key, *link.subject) : url_hash(key, raw_url));
  link.evidence = link.subject ? links_.judge_stable(*link.subject) : links_.judge_invalid(raw_url);
  return link;
}

void SubjectJudge::judge_resolved(std::span<LinkPart* const> links) const {
  std::vector<std::string> hosts;
  for (const LinkPart* link : links) {
    if (link->evidence.needs_dns) hosts.push_back(link->subject->host);
  }
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  std::vector<HostFacts> facts;
  if (resolver_ != nullptr && !hosts.empty()) {
    facts = resolver_->resolve(hosts);
    SAFETY_CHECK(facts.size() == hosts.size());
  }
  for (LinkPart* link : links) {
    if (link->evidence.needs_dns && !facts.empty()) {
      const auto at = std::lower_bound(hosts.begin(), hosts.end(), link->subject->host);
      link->facts = facts[static_cast<std::size_t>(at - hosts.begin())];
    }
    link->verdict = links_.judge(link->evidence, facts_or_null(link->facts, &HostFacts::a),
                                 facts_or_null(link->facts, &HostFacts::aaaa));
  }
}

SubjectJudge::OpenText SubjectJudge::open_text(std::string_view raw_text,
                                               TextScratch& scratch) const {
  TextJudge::Judged text = texts_.judge(raw_text, scratch);
  OpenText open{{std::move(text.evidence), std::move(text.verdict), {}, text.layer}, {}, {}};
  if (!open.judged.evidence.has_links) return open;
  std::string buffer;
  open.extraction = extract_links(repair_utf8(raw_text, buffer), limits_of(config()));
  std::erase_if(open.extraction.links,
                [](const ExtractedLink& link) { return link.reading == Reading::kNowhere; });
  for (const ExtractedLink& link : open.extraction.links) {
    open.links.push_back(judge_stable(link.url));
  }
  return open;
}

SubjectJudge::OpenLink SubjectJudge::open_link(std::string_view raw_url) const {
  OpenLink open{{judge_stable(raw_url), {}, {}}, false};
  const Extraction inside = extract_nested_links(raw_url, limits_of(config()));
  open.is_over_budget = inside.is_over_budget;
  for (const ExtractedLink& nested : inside.links) {
    open.judged.nested.push_back(judge_stable(nested.url));
  }
  return open;
}

SubjectJudge::JudgedText SubjectJudge::close(OpenText open) const {
  JudgedText judged = std::move(open.judged);
  std::vector<TextLink> parts;
  for (std::size_t i = 0; i < open.links.size(); ++i) {
    const ExtractedLink& place = open.extraction.links[i];
    LinkPart& link = open.links[i];
    parts.push_back({link.url_hash, link.verdict, place.obfuscated,
                     place.reading == Reading::kAlternate, place.is_bare_address});
    judged.links.push_back({place.start, place.end, place.obfuscated, std::move(link.url_hash),
                            std::move(link.verdict)});
  }
  if (judged.evidence.has_links) {
    judged.verdict = links_.join(std::move(judged.verdict), parts, open.extraction.is_over_budget);
  }
  return judged;
}

SubjectJudge::JudgedLink SubjectJudge::close(OpenLink open) const {
  std::vector<TextLink> parts;
  for (const LinkPart& nested : open.judged.nested) {
    parts.push_back({nested.url_hash, nested.verdict});
  }
  open.judged.verdict = links_.join(open.judged.link.verdict, parts, open.is_over_budget);
  return std::move(open.judged);
}

SubjectJudge::JudgedText SubjectJudge::judge_text(std::string_view raw_text,
                                                  TextScratch& scratch) const {
  OpenText open = open_text(raw_text, scratch);
  judge_resolved(open.parts());
  return close(std::move(open));
}

SubjectJudge::JudgedLink SubjectJudge::judge_link(std::string_view raw_url) const {
  OpenLink open = open_link(raw_url);
  judge_resolved(open.parts());
  return close(std::move(open));
}

std::vector<Verdict> SubjectJudge::judge_all(std::span<const Subject> subjects,
                                             TextScratch& scratch) const {
  std::vector<std::variant<OpenText, OpenLink>> open;
  std::vector<LinkPart*> parts;
  open.reserve(subjects.size());  // parts are not moved any more
  for (const Subject& subject : subjects) {
    if (subject.kind == Subject::Kind::kText) {
      open.emplace_back(open_text(subject.raw, scratch));
    } else {
      open.emplace_back(open_link(subject.raw));
    }
    std::visit(
        [&parts](auto& known) {
          const std::vector<LinkPart*> own = known.parts();
          parts.insert(parts.end(), own.begin(), own.end());
        },
        open.back());
  }
  judge_resolved(parts);
  std::vector<Verdict> verdicts;
  verdicts.reserve(open.size());
  for (auto& one : open) {
    verdicts.push_back(
        std::visit([&](auto& known) { return close(std::move(known)).verdict; }, one));
  }
  return verdicts;
}

}  // namespace han::safety
