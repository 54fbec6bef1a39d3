// BatchJudge: one claimed batch from tasks to committed verdicts.
//
// Order (SPEC section 8): sort out what needs no judging, look up or compute the evidence of all
// texts, apply the policy, hand verdicts and completions over to be committed in one transaction;
// what was committed is remembered then. All of it under one snapshot of rules and config.
//
// Threads:   one thread at a time; one object a judging thread.
// Owns:      scratch memory of its thread; borrows the rest.
// Blocks:    as BatchLookup and CompletionBuffer; up to database_timeout for failed attempts.
// Fails:     never for a task's sake: what cannot be judged is indeterminate or retried.
// Limits:    text bytes as the config and settings say; longer is indeterminate(limit).
#pragma once

#include <condition_variable>
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
  void judge(Work& work);
  void fail(const Work& work);
  void hand_over(Work& work, const BatchQueue::Batch& batch);

  const JudgeParts parts_;
  // Of the engine that was used last.
  std::optional<TextScratch> scratch_;
  Mutex mutex_;
  std::condition_variable_any pause_;  // nobody notifies it
};

}  // namespace han::safety
