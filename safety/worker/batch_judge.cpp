#include "safety/worker/batch_judge.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <unordered_map>
#include <utility>

#include "pgqueue/error.h"
#include "safety/policy.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

constexpr std::string_view kTextKind = "text";
constexpr std::string_view kReasonKind = "unsupported_kind";
constexpr std::string_view kReasonExpired = "expired";
constexpr std::chrono::milliseconds kFailPause{50};

struct DigestHash {
  std::size_t operator()(const Digest& digest) const { return xxh3(as_text(digest)); }
};

}  // namespace

// Everything of one batch; texts and repaired copies live as long as it.
struct BatchJudge::Work {
  struct TextTask {
    const pgqueue::ClaimedTask* task;
    std::size_t subject;
  };
  std::shared_ptr<const Snapshot> snapshot;
  std::deque<std::string> repaired;
  BatchSubjects subjects;
  std::vector<TextTask> texts;
  std::vector<FinishedTask> finished;
  // For each of `finished`, the subject whose evidence it committed; SIZE_MAX: none.
  std::vector<std::size_t> subject_of;
  std::vector<pgqueue::Failure> failures;

  void finish(const pgqueue::Lease& lease, pgqueue::FinalState state,
              std::shared_ptr<const SubjectResult> result, std::size_t subject = SIZE_MAX) {
    finished.push_back({lease, state, std::move(result)});
    subject_of.push_back(subject);
  }
};

BatchJudge::BatchJudge(JudgeParts parts) : parts_(std::move(parts)) {}

void BatchJudge::sort_out(const BatchQueue::Batch& batch, Work& work) {
  const Snapshot& snapshot = *work.snapshot;
  const Config& config = *snapshot.config;
  const auto indeterminate = [&](std::string_view reason) {
    return subject_result(indeterminate_verdict(reason, snapshot.versions(), config));
  };
  std::unordered_map<Digest, std::size_t, DigestHash> seen;
  for (const pgqueue::ClaimedTask& task : batch.tasks) {
    if (!parts_.leases.stands(task.lease)) {
      parts_.leases.remove(task.lease);
      continue;
    }
    if (task.is_overdue) {
      work.finish(task.lease, pgqueue::FinalState::kExpired, indeterminate(kReasonExpired));
      continue;
    }
    if (task.kind != kTextKind) {
      // A newer worker may know the kind: given back uncharged until decide_by ends it.
      work.failures.push_back({task.lease, task.attempt, pgqueue::FailureClass::kProviderDown,
                               std::string(kReasonKind), task.delays});
      continue;
    }
    if (task.payload.size() > parts_.text_bytes_max || is_over_limit(task.payload.size(), config)) {
      work.finish(task.lease, pgqueue::FinalState::kDone,
                  subject_result(over_limit_verdict(snapshot.rules(), config)));
      continue;
    }
    const std::string_view text = repair_utf8(task.payload, work.repaired.emplace_back());
    const Digest hash = parts_.lookup.text_hash(text);
    const auto [found, is_new] = seen.emplace(hash, work.subjects.texts.size());
    if (is_new) {
      TextSubject subject;
      subject.text = text;
      subject.hash = hash;
      work.subjects.texts.push_back(std::move(subject));
    }
    work.texts.push_back({&task, found->second});
  }
}

void BatchJudge::judge(Work& work) {
  const Snapshot& snapshot = *work.snapshot;
  std::vector<std::shared_ptr<SubjectResult>> results;
  for (const TextSubject& subject : work.subjects.texts) {
#ifdef SAFETY_TEST_CRASH
    // A test build that a certain text kills, as a bug in an engine would (R13).
    if (subject.text.find("SAFETY_TEST_CRASH") != std::string_view::npos) std::abort();
#endif
#ifdef SAFETY_TEST_LEAK
    // A test build that leaks: the search for leaks must find it.
    log(LogLevel::kInfo, "judged", {{"text", subject.text}});
    parts_.metrics.count("leaks_total", subject.text);
#endif
    const TextEvidence& evidence = subject.found->evidence;
    auto result = subject_result(decide_text(evidence, snapshot.rules(), *snapshot.config));
    result->layer = subject.layer;
    result->subject_hash = as_text(subject.hash);
    result->pepper_id = parts_.peppers.current.id;
    const bool is_decided = result->verdict.decision != Decision::kIndeterminate;
    if (is_decided && subject.found->committed_config != snapshot.config_version()) {
      result->row =
          pgqueue::VerdictRow{{std::string(kTextKind), result->subject_hash, result->pepper_id,
                               snapshot.rules_version(), snapshot.config_version(), ""},
                              std::string(to_string(result->verdict.decision)),
                              subject.found->bytes};
    }
    results.push_back(std::move(result));
  }
  for (const Work::TextTask& text : work.texts) {
    const auto& result = results[text.subject];
    const pgqueue::Lease& lease = text.task->lease;
    const TextEvidence& evidence = work.subjects.texts[text.subject].found->evidence;
    if (evidence.failure == kReasonLimit) {  // longer than a text may be once it is repaired
      work.finish(lease, pgqueue::FinalState::kDone, result);
      continue;
    }
    if (evidence.is_complete()) {
      work.finish(lease, pgqueue::FinalState::kDone, result, text.subject);
      continue;
    }
    // The engine failed: worth another attempt, and indeterminate when there are none left.
    work.failures.push_back({lease, text.task->attempt, pgqueue::FailureClass::kTransient,
                             evidence.failure, text.task->delays});
  }
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
        }
      }
      parts_.metrics.count("attempts_failed_total", "engine",
                           static_cast<double>(open.size() - busy.size()));
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
  for (TextSubject& subject : work.subjects.texts) subject.text = {};  // ends with the batch
  // Nothing is claimed beside a suspect.
  const bool is_alone = batch.tasks.size() == 1 && batch.tasks.front().is_suspect;
  const auto flush =
      is_alone ? CompletionBuffer::Flush::kAtOnce : CompletionBuffer::Flush::kTogether;
  parts_.completions.add(
      std::move(work.finished),
      [parts = parts_, snapshot = std::move(work.snapshot), subjects = std::move(work.subjects),
       count = batch.tasks.size(), subject_of = std::move(work.subject_of),
       claimed_at = batch.claimed_at](const std::vector<std::size_t>& committed) mutable {
        BatchLookup::Committed done;
        for (const std::size_t index : committed) {
          if (subject_of[index] == SIZE_MAX) continue;
          done.texts.push_back(&subjects.texts[subject_of[index]]);
        }
        std::sort(done.texts.begin(), done.texts.end());
        done.texts.erase(std::unique(done.texts.begin(), done.texts.end()), done.texts.end());
        parts.lookup.remember(done, *snapshot);
        const auto took = system_clock().now() - claimed_at;
        parts.sizer.note(count, took);
        parts.metrics.observe("batch_seconds", took);
      },
      flush);
}

void BatchJudge::process(const BatchQueue::Batch& batch) {
  Work work;
  work.snapshot = parts_.snapshots.get();
  if (!scratch_ || !scratch_->fits(*work.snapshot->engine))
    scratch_.emplace(*work.snapshot->engine);
  sort_out(batch, work);
  parts_.lookup.find(work.subjects, *work.snapshot, *scratch_);
  judge(work);
  fail(work);
  hand_over(work, batch);
}

}  // namespace han::safety
