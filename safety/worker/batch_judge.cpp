#include "safety/worker/batch_judge.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <utility>

#include "pgqueue/error.h"
#include "safety/base/hex.h"
#include "safety/policy.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

constexpr std::string_view kTextKind = "text";
constexpr std::string_view kLinkKind = "link";
constexpr std::string_view kReasonKind = "unsupported_kind";
constexpr std::string_view kReasonExpired = "expired";
constexpr std::chrono::milliseconds kFailPause{50};

// The subject whose evidence a finished task commits.
struct Origin {
  enum class Kind { kNone, kText, kLink };
  Kind kind = Kind::kNone;
  std::size_t place = 0;
};

// Finished tasks that are committed together.
struct Lot {
  std::vector<FinishedTask> finished;
  std::vector<Origin> origins;  // of each of `finished`
};

template <typename Item>
void sort_and_unique(std::vector<Item*>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

// Those that the subject's verdict depends on.
std::vector<std::size_t> links_of(const Origin& subject, const BatchSubjects& subjects) {
  std::vector<std::size_t> links;
  const bool is_text = subject.kind == Origin::Kind::kText;
  if (!is_text) links.push_back(subjects.link_tasks[subject.place].link);
  const auto& found =
      is_text ? subjects.links_of[subject.place] : subjects.link_tasks[subject.place].nested;
  for (const auto& use : found.uses) links.push_back(use.link);
  return links;
}

BatchLookup::Committed committed_of(const Lot& lot, const std::vector<std::size_t>& committed,
                                    BatchSubjects& subjects) {
  BatchLookup::Committed done;
  for (const std::size_t index : committed) {
    const Origin& origin = lot.origins[index];
    if (origin.kind == Origin::Kind::kNone) continue;
    if (origin.kind == Origin::Kind::kText) {
      done.texts.push_back(&subjects.texts[origin.place]);
    } else {
      done.link_tasks.push_back(&subjects.links[subjects.link_tasks[origin.place].link]);
    }
    for (const std::size_t link : links_of(origin, subjects)) {
      done.links.push_back(&subjects.links[link]);
    }
  }
  sort_and_unique(done.texts);
  sort_and_unique(done.links);
  sort_and_unique(done.link_tasks);
  return done;
}

}  // namespace

// Everything of one batch; texts and repaired copies live as long as it.
struct BatchJudge::Work {
  struct Task {
    const pgqueue::ClaimedTask* task;
    Origin subject;
  };
  std::shared_ptr<const Snapshot> snapshot;
  std::deque<std::string> repaired;
  // Shared with the lots that are on their way.
  std::shared_ptr<BatchSubjects> subjects = std::make_shared<BatchSubjects>();
  std::vector<Task> tasks;                                         // that are to be judged
  std::vector<std::shared_ptr<const SubjectResult>> text_results;  // null: not yet
  std::vector<std::shared_ptr<const SubjectResult>> link_results;
  std::vector<std::optional<Verdict>> link_verdicts;
  Lot lot;
  std::vector<pgqueue::Failure> failures;
  bool is_first_lot = true;
  std::chrono::nanoseconds waited{0};  // for the DNS

  void finish(const pgqueue::Lease& lease, pgqueue::FinalState state,
              std::shared_ptr<const SubjectResult> result, Origin origin = {}) {
    lot.finished.push_back({lease, state, std::move(result)});
    lot.origins.push_back(origin);
  }

  bool is_waiting(const Origin& subject) const {
    return std::ranges::any_of(links_of(subject, *subjects), [&](std::size_t link) {
      return subjects->is_waiting(subjects->links[link]);
    });
  }
};

BatchJudge::BatchJudge(JudgeParts parts) : parts_(parts) {}

void BatchJudge::sort_text(const pgqueue::ClaimedTask& task, Work& work) {
  const Snapshot& snapshot = *work.snapshot;
  if (task.payload.size() > parts_.text_bytes_max ||
      is_over_limit(task.payload.size(), snapshot.config())) {
    work.finish(task.lease, pgqueue::FinalState::kDone,
                subject_result(over_limit_verdict(snapshot.rules(), snapshot.config())));
    return;
  }
  const std::string_view text = repair_utf8(task.payload, work.repaired.emplace_back());
  const std::size_t place = work.subjects->add_text(text, parts_.lookup.text_hash(text));
  work.tasks.push_back({&task, {Origin::Kind::kText, place}});
}

void BatchJudge::sort_link(const pgqueue::ClaimedTask& task, Work& work) {
  if (task.payload.size() > kUrlBytesMax) {
    work.finish(
        task.lease, pgqueue::FinalState::kDone,
        subject_result(over_limit_verdict(work.snapshot->rules(), work.snapshot->config())));
    return;
  }
  const std::size_t place =
      work.subjects->add_link_task(task.payload, parts_.lookup.link_item(task.payload));
  work.tasks.push_back({&task, {Origin::Kind::kLink, place}});
}

void BatchJudge::sort_out(const BatchQueue::Batch& batch, Work& work) {
  for (const pgqueue::ClaimedTask& task : batch.tasks) {
    if (!parts_.leases.stands(task.lease)) {
      parts_.leases.remove(task.lease);
    } else if (task.is_overdue) {
      work.finish(task.lease, pgqueue::FinalState::kExpired,
                  subject_result(indeterminate_verdict(kReasonExpired, work.snapshot->versions(),
                                                       work.snapshot->config())));
    } else if (task.kind == kTextKind) {
      sort_text(task, work);
    } else if (task.kind == kLinkKind) {
      sort_link(task, work);
    } else {
      // A newer worker may know the kind: given back uncharged until decide_by ends it.
      work.failures.push_back({task.lease, task.attempt, pgqueue::FailureClass::kProviderDown,
                               std::string(kReasonKind), task.delays});
    }
  }
}

const Verdict& BatchJudge::verdict_of_link(std::size_t link, Work& work) {
  std::optional<Verdict>& verdict = work.link_verdicts[link];
  if (!verdict) {
    const LinkItem& item = work.subjects->links[link];
    const auto facts = [&](std::size_t half) -> const DnsFacts* {
      return item.host == LinkItem::kNoHost ? nullptr
                                            : work.subjects->hosts[item.host + half].facts.get();
    };
    verdict = work.snapshot->judge().judge(item.found->evidence, facts(0), facts(1));
    parts_.metrics.count("link_verdicts_total", to_string(verdict->decision));
  }
  return *verdict;
}

Verdict BatchJudge::joined(Verdict own, const BatchSubjects::LinkUses& links, Work& work) {
  std::vector<TextLink> judged;
  for (const auto& use : links.uses) {
    judged.push_back({to_hex(work.subjects->links[use.link].hash), verdict_of_link(use.link, work),
                      use.is_obfuscated, use.is_alternate, use.is_bare_address});
  }
  return work.snapshot->judge().join(std::move(own), judged, links.is_over_budget);
}

std::shared_ptr<const SubjectResult> BatchJudge::result_of_link(std::size_t link, Work& work) {
  std::shared_ptr<const SubjectResult>& known = work.link_results[link];
  if (known) return known;
  const Snapshot& snapshot = *work.snapshot;
  const BatchSubjects::LinkTask& task = work.subjects->link_tasks[link];
  const LinkItem& item = work.subjects->links[task.link];
  auto result = subject_result(joined(verdict_of_link(task.link, work), task.nested, work));
  result->layer = item.layer;
  result->subject_hash = as_text(item.hash);
  result->pepper_id = parts_.peppers.current.id;
  const bool is_decided = result->verdict.decision != Decision::kIndeterminate;
  if (is_decided && !item.found->bytes.empty() && !item.found->is_committed) {
    result->row =
        pgqueue::VerdictRow{{std::string(kLinkKind), result->subject_hash, result->pepper_id,
                             snapshot.rules_version(), snapshot.config_version(), ""},
                            std::string(to_string(item.found->evidence.decision)),
                            item.found->bytes};
  }
  known = std::move(result);
  return known;
}

std::shared_ptr<const SubjectResult> BatchJudge::result_of_text(std::size_t text, Work& work) {
  std::shared_ptr<const SubjectResult>& known = work.text_results[text];
  if (known) return known;
  const Snapshot& snapshot = *work.snapshot;
  const TextSubject& subject = work.subjects->texts[text];
  const BatchSubjects::LinkUses& links = work.subjects->links_of[text];
#ifdef SAFETY_TEST_CRASH
  // A test build that a certain text kills, as a bug in an engine would (R13).
  if (subject.text.find("SAFETY_TEST_CRASH") != std::string_view::npos) std::abort();
#endif
#ifdef SAFETY_TEST_LEAK
  // A test build that leaks: the search for leaks must find it.
  log(LogLevel::kInfo, "judged", {{"text", subject.text}});
  parts_.metrics.count("leaks_total", subject.text);
#endif
  Verdict verdict = decide_text(subject.found->evidence, snapshot.rules(), snapshot.config());
  const Decision own = verdict.decision;
  if (!links.uses.empty() || links.is_over_budget) {
    verdict = joined(std::move(verdict), links, work);
  }
  auto result = subject_result(std::move(verdict));
  result->layer = subject.layer;
  result->subject_hash = as_text(subject.hash);
  result->pepper_id = parts_.peppers.current.id;
  const bool is_decided = result->verdict.decision != Decision::kIndeterminate;
  if (is_decided && !subject.found->bytes.empty() &&
      subject.found->committed_config != snapshot.config_version()) {
    result->row =
        pgqueue::VerdictRow{{std::string(kTextKind), result->subject_hash, result->pepper_id,
                             snapshot.rules_version(), snapshot.config_version(), ""},
                            std::string(to_string(own)),
                            subject.found->bytes};
  }
  known = std::move(result);
  return known;
}

std::optional<pgqueue::FailureClass> BatchJudge::retry_of(const std::vector<std::size_t>& links,
                                                          const Work& work) const {
  std::optional<pgqueue::FailureClass> retry;
  for (const std::size_t link : links) {
    const LinkItem& item = work.subjects->links[link];
    const std::optional<Verdict>& verdict = work.link_verdicts[link];
    if (item.host == LinkItem::kNoHost || !verdict ||
        verdict->decision != Decision::kIndeterminate) {
      continue;
    }
    for (const std::size_t half : {item.host, item.host + 1}) {
      const auto& failure = work.subjects->hosts[half].failure;
      if (!failure || dns::is_permanent(*failure)) continue;
      const bool is_ours = *failure == dns::Failure::kOverload ||
                           *failure == dns::Failure::kStopped ||
                           *failure == dns::Failure::kUnreachable;
      if (is_ours || (is_silence(*failure) && parts_.lookup.is_resolver_down())) {
        if (!retry) retry = pgqueue::FailureClass::kProviderDown;
      } else {
        retry = pgqueue::FailureClass::kTransient;
      }
    }
  }
  return retry;
}

void BatchJudge::judge_link(const pgqueue::ClaimedTask& task, std::size_t link, Work& work) {
  auto result = result_of_link(link, work);
  if (result->verdict.decision == Decision::kIndeterminate) {
    if (const auto retry = retry_of(links_of({Origin::Kind::kLink, link}, *work.subjects), work)) {
      work.failures.push_back(
          {task.lease, task.attempt, *retry, result->verdict.reason, task.delays});
      return;
    }
    work.finish(task.lease, pgqueue::FinalState::kDone, std::move(result));
    return;
  }
  work.finish(task.lease, pgqueue::FinalState::kDone, std::move(result),
              {Origin::Kind::kLink, link});
}

void BatchJudge::judge_text(const pgqueue::ClaimedTask& task, std::size_t text, Work& work) {
  auto result = result_of_text(text, work);
  if (result->verdict.decision != Decision::kIndeterminate) {
    work.finish(task.lease, pgqueue::FinalState::kDone, std::move(result),
                {Origin::Kind::kText, text});
    return;
  }
  const TextEvidence& evidence = work.subjects->texts[text].found->evidence;
  // Longer than a text may be once it is repaired: never judged better.
  if (!evidence.is_complete() && evidence.failure != kReasonLimit) {
    // The engine failed: worth another attempt, and indeterminate when there are none left.
    work.failures.push_back({task.lease, task.attempt, pgqueue::FailureClass::kTransient,
                             evidence.failure, task.delays});
    return;
  }
  const auto links = links_of({Origin::Kind::kText, text}, *work.subjects);
  if (const auto retry = retry_of(links, work)) {
    work.failures.push_back(
        {task.lease, task.attempt, *retry, result->verdict.reason, task.delays});
    return;
  }
  work.finish(task.lease, pgqueue::FinalState::kDone, std::move(result));
}

void BatchJudge::judge(Work& work) {
  work.text_results.resize(work.subjects->texts.size());
  work.link_results.resize(work.subjects->link_tasks.size());
  work.link_verdicts.resize(work.subjects->links.size());
  std::vector<Work::Task> waiting;
  for (const Work::Task& item : work.tasks) {
    if (work.is_waiting(item.subject)) {
      waiting.push_back(item);
    } else if (item.subject.kind == Origin::Kind::kText) {
      judge_text(*item.task, item.subject.place, work);
    } else {
      judge_link(*item.task, item.subject.place, work);
    }
  }
  work.tasks.swap(waiting);
}

// A lease that were let go now would run out, which looks like a crash: a locked row, or a server
// that does not answer, is tried again for a while.
void BatchJudge::fail(const Work& work) {
  std::vector<pgqueue::Failure> open = work.failures;
  const Deadline deadline = Deadline::after(parts_.database_timeout);
  while (!open.empty()) {
    try {
      const auto outcomes = parts_.queue.fail(open, deadline);
      std::vector<pgqueue::Failure> busy;
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (outcomes[i] == pgqueue::FailOutcome::kBusy) {
          busy.push_back(std::move(open[i]));
        } else {
          parts_.leases.remove(open[i].lease);
          parts_.metrics.count("attempts_failed_total", open[i].reason);
        }
      }
      open.swap(busy);
    } catch (const pgqueue::Error&) {
      parts_.metrics.count("database_errors_total", "fail");
    }
    if (open.empty() || deadline.has_passed()) break;
    MutexLock lock(mutex_);
    pause_.wait_until(lock, deadline.earlier(Deadline::after(kFailPause)).at(),
                      [] { return false; });
  }
  // Left to rescue: no longer ours to renew.
  for (const pgqueue::Failure& item : open) parts_.leases.remove(item.lease);
}

void BatchJudge::hand_over(Work& work, const BatchQueue::Batch& batch) {
  // Nothing is claimed beside a suspect.
  const bool is_alone = batch.tasks.size() == 1 && batch.tasks.front().is_suspect;
  const auto flush =
      is_alone ? CompletionBuffer::Flush::kAtOnce : CompletionBuffer::Flush::kTogether;
  // The sizer is told once a batch; waiting for the DNS is no matter of the batch's size.
  const std::size_t count = work.is_first_lot ? batch.tasks.size() : 0;
  work.is_first_lot = false;
  auto lot = std::make_shared<const Lot>(Lot{{}, std::exchange(work.lot.origins, {})});
  parts_.completions.add(
      std::exchange(work.lot.finished, {}),
      [parts = parts_, snapshot = work.snapshot, subjects = work.subjects, lot, count,
       begin = batch.claimed_at + work.waited](const std::vector<std::size_t>& committed) {
        parts.lookup.remember(committed_of(*lot, committed, *subjects), *snapshot);
        if (count == 0) return;
        const auto took = system_clock().now() - begin;
        parts.sizer.note(count, took);
        parts.metrics.observe("batch_seconds", took);
      },
      flush);
}

void BatchJudge::process(const BatchQueue::Batch& batch) {
  Work work;
  work.snapshot = parts_.snapshots.get();
  const TextEngine& engine = work.snapshot->engine();
  if (!scratch_ || !scratch_->fits(engine)) scratch_.emplace(engine);
  sort_out(batch, work);
  parts_.lookup.find(*work.subjects, *work.snapshot, *scratch_);
  judge(work);
  if (!work.tasks.empty()) {
    if (!work.lot.finished.empty()) hand_over(work, batch);
    const auto begin = system_clock().now();
    parts_.lookup.resolve(*work.subjects);
    work.waited = system_clock().now() - begin;
    parts_.metrics.observe("dns_wait_seconds", work.waited);
    judge(work);
  }
  fail(work);
  for (TextSubject& subject : work.subjects->texts) subject.text = {};  // ends with the batch
  hand_over(work, batch);
}

}  // namespace han::safety
