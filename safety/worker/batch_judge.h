// BatchJudge: one claimed batch from tasks to committed verdicts.
//
// Order (SPEC section 8): sort out what needs no judging, look up or compute the evidence of all
// texts and links, apply the policy, hand verdicts and completions over to be committed in one
// transaction; what was committed is remembered then. All of it under one snapshot of bundle and
// config. When a host has to be resolved, tasks that do not wait for it are handed over before.
//
// The verdict row of a link, and of a text, holds the part that does not depend on the DNS; the
// task's result holds the whole verdict.
//
// A task whose verdict waits for an answer that did not come is retried: charged when it is about
// the name, not charged when the resolvers are down. What asking again cannot change (a loop, a
// chain too long) finishes as indeterminate. Neither is ever allowed (SPEC I4).
//
// Threads:   one thread at a time; one object a judging thread.
// Owns:      scratch memory of its thread; borrows the rest.
// Blocks:    as BatchLookup and CompletionBuffer; up to database_timeout for failed attempts.
// Fails:     never for a task's sake: what cannot be judged is indeterminate or retried.
// Limits:    text bytes as the config and settings say, kUrlBytesMax of a link; longer is
//            indeterminate(limit).
#pragma once

#include <condition_variable>
#include <memory>
#include <optional>
#include <vector>

#include "pgqueue/queue.h"
#include "safety/base/mutex.h"
#include "safety/telemetry/metrics.h"
#include "safety/worker/batch_lookup.h"
#include "safety/worker/batch_queue.h"
#include "safety/worker/batch_sizer.h"
#include "safety/worker/completion_buffer.h"
#include "safety/worker/lease_table.h"
#include "safety/worker/snapshot.h"

namespace han::safety {

// What all judging threads share; immutable but for the parts that are thread-safe themselves.
struct JudgeParts {
  const SnapshotHolder& snapshots;
  const PepperSet& peppers;
  std::size_t text_bytes_max;
  pgqueue::Queue& queue;
  BatchLookup& lookup;
  CompletionBuffer& completions;
  BatchSizer& sizer;
  LeaseTable& leases;
  Metrics& metrics;
  std::chrono::milliseconds database_timeout;
};

class BatchJudge {
 public:
  explicit BatchJudge(JudgeParts parts);

  // Returns when the batch is handed over; the parts must live until it is settled.
  void process(const BatchQueue::Batch& batch);

 private:
  struct Work;

  void sort_out(const BatchQueue::Batch& batch, Work& work);
  void sort_text(const pgqueue::ClaimedTask& task, Work& work);
  void sort_link(const pgqueue::ClaimedTask& task, Work& work);
  // Tasks that were not judged before, but for those that wait for an answer.
  void judge(Work& work);
  void judge_text(const pgqueue::ClaimedTask& task, std::size_t text, Work& work);
  void judge_link(const pgqueue::ClaimedTask& task, std::size_t link, Work& work);
  const Verdict& verdict_of_link(std::size_t link, Work& work);
  // `own` with what the links say that the subject holds.
  Verdict joined(Verdict own, const BatchSubjects::LinkUses& links, Work& work);
  std::shared_ptr<const SubjectResult> result_of_text(std::size_t text, Work& work);
  // `link`: among link_tasks.
  std::shared_ptr<const SubjectResult> result_of_link(std::size_t link, Work& work);
  // Whether asking again can change what is indeterminate because of these links, and at whose
  // cost.
  std::optional<pgqueue::FailureClass> retry_of(const std::vector<std::size_t>& links,
                                                const Work& work) const;
  void fail(const Work& work);
  // What was judged since the last call.
  void hand_over(Work& work, const BatchQueue::Batch& batch);

  const JudgeParts parts_;
  // Of the engine that was used last.
  std::optional<TextScratch> scratch_;
  Mutex mutex_;
  std::condition_variable_any pause_;  // nobody notifies it
};

}  // namespace han::safety
