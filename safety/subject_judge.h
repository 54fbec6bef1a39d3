// SubjectJudge: from a raw text or URL to its verdict, without any server but those of the DNS.
//
// The one place that puts the steps in order: limit on the raw bytes, UTF-8 repair, scan, links of
// the text or URLs in the link, the stable part of each, what their hosts resolve to, policy. What
// is judged offline (checks of an operator, the comparison at the end of the demo) goes through it;
// the worker puts its caches between the same steps.
//
// Threads:   immutable after construction; safe to share, with one scratch a thread, when the
//            resolver is. Owns: shares of bundle and peppers; borrows the resolver.
// Blocks:    as the resolver; never without one.
// Fails:     std::bad_alloc only; what cannot be judged is indeterminate.
// Limits:    the config's text_bytes_max and links_max; judge_all() holds all its subjects at once.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "safety/base/pepper.h"
#include "safety/bundle.h"
#include "safety/evidence.h"
#include "safety/link_facts.h"
#include "safety/link_judge.h"
#include "safety/link_subject.h"
#include "safety/text_judge.h"
#include "safety/verdict.h"

namespace han::safety {

class HostResolver {
 public:
  virtual ~HostResolver() = default;
  // The facts of each host, in the same order. `hosts`: sorted, each once, as LinkSubject::host
  // is.
  virtual std::vector<HostFacts> resolve(std::span<const std::string> hosts) = 0;
};

class SubjectJudge {
 public:
  // One link, without those in it.
  struct LinkPart {
    std::optional<LinkSubject> subject;  // absent: no URL
    std::string url_hash;
    LinkEvidence evidence;
    std::optional<HostFacts> facts;  // absent: not needed, or nobody asked
    Verdict verdict;
  };
  struct JudgedLink {
    LinkPart link;
    std::vector<LinkPart> nested;  // the URLs in it
    Verdict verdict;               // with theirs
  };
  // One place of a text where a link stands; one link may stand in several.
  struct LinkPlace {
    std::size_t start = 0;  // bytes of the repaired text
    std::size_t end = 0;
    bool is_obfuscated = false;
    std::string url_hash;
    Verdict verdict;
  };
  struct JudgedText {
    TextEvidence evidence;
    Verdict verdict;  // with the links'
    std::vector<LinkPlace> links;
    Layer layer = Layer::kComputed;
  };

  // What judge_all() takes.
  struct Subject {
    enum class Kind { kText, kLink };
    Kind kind = Kind::kText;
    std::string_view raw;
  };

  // `resolver` may be null: then a link that needs it is indeterminate(dns_off).
  // Requires: a bundle, peppers (checked).
  SubjectJudge(std::shared_ptr<const Bundle> bundle, Config config,
               std::shared_ptr<const PepperSet> peppers, HostResolver* resolver);

  // Any bytes have a verdict. Requires: a scratch made for the bundle's engine (checked).
  JudgedText judge_text(std::string_view raw_text, TextScratch& scratch) const;
  JudgedLink judge_link(std::string_view raw_url) const;
  // The verdict of each, as by itself; the hosts of all are resolved together.
  std::vector<Verdict> judge_all(std::span<const Subject> subjects, TextScratch& scratch) const;

  const Bundle& bundle() const { return links_.bundle(); }
  const TextEngine& engine() const { return texts_.engine(); }
  const Config& config() const { return texts_.config(); }
  const LinkJudge& links() const { return links_; }

 private:
  struct OpenText;  // whose links are not resolved yet
  struct OpenLink;

  LinkPart judge_stable(std::string_view raw_url) const;
  OpenText open_text(std::string_view raw_text, TextScratch& scratch) const;
  OpenLink open_link(std::string_view raw_url) const;
  void judge_resolved(std::span<LinkPart* const> links) const;
  JudgedText close(OpenText open) const;
  JudgedLink close(OpenLink open) const;

  TextJudge texts_;
  LinkJudge links_;
  std::shared_ptr<const PepperSet> peppers_;
  HostResolver* resolver_;
};

}  // namespace han::safety
