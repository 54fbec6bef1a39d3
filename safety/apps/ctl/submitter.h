// Submitter: gathers tasks into batches and submits each in one transaction.
//
// Once a batch was submitted, a server that goes away is waited for, up to the patience. A batch
// whose commit is in doubt is submitted again only when each of its tasks has a key or a subject,
// which make a second time harmless.
//
// Threads: one thread at a time. Owns: the batch; the queue and the sender must outlive it.
// Blocks:  add() and flush() while a batch is submitted.
// Fails:   SubmitFailure; the batch is dropped.
// Limits:  1,000 tasks or 8 MiB of text, keys and subjects a batch, or one task.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pgqueue/queue.h"
#include "safety/apps/ctl/failure.h"
#include "safety/apps/ctl/hint_sender.h"

namespace han::safety {

// A batch that was not submitted, or perhaps was.
class SubmitFailure : public Failure {
 public:
  // `in_doubt`: a task of the batch, which exists exactly when the batch was submitted.
  SubmitFailure(std::string cause, std::string_view fix, std::size_t batch_tasks,
                std::optional<Uuid> in_doubt)
      : Failure(ExitCode::kFailure, cause, fix),
        cause_(std::move(cause)),
        batch_tasks_(batch_tasks),
        in_doubt_(in_doubt) {}

  const std::string& cause() const { return cause_; }
  std::size_t batch_tasks() const { return batch_tasks_; }
  const std::optional<Uuid>& in_doubt() const { return in_doubt_; }

 private:
  std::string cause_;
  std::size_t batch_tasks_;
  std::optional<Uuid> in_doubt_;
};

struct SubmitterOptions {
  std::string caller;
  std::chrono::milliseconds patience{60'000};
  // Whether to stop waiting for a server that is away.
  std::function<bool()> is_stopped = [] { return false; };
};

class Submitter {
 public:
  static constexpr std::size_t kBatchTasksMax = 1000;
  static constexpr std::size_t kBatchBytesMax = std::size_t{8} << 20;

  struct Counts {
    std::uint64_t created = 0;
    std::uint64_t duplicate = 0;
    std::uint64_t conflict = 0;
    std::uint64_t superseded = 0;
    std::uint64_t quarantined = 0;
    // Tasks that stand for what was given; a conflict submits nothing.
    std::uint64_t submitted() const { return created + duplicate + superseded + quarantined; }
  };

  // Called for each batch that was committed, with its submissions in the order given.
  using OnBatch = std::function<void(const std::vector<pgqueue::Submission>&)>;

  Submitter(pgqueue::Queue& queue, SubmitterOptions options, HintSender& hints, OnBatch on_batch);

  void add(pgqueue::NewTask task);
  void flush();

  const Counts& counts() const { return counts_; }
  std::size_t waiting() const { return batch_.size(); }  // tasks not submitted yet

 private:
  pgqueue::Submitted submit(std::vector<pgqueue::NewTask>& batch);
  void count(const pgqueue::Submission& submission);

  pgqueue::Queue& queue_;
  const SubmitterOptions options_;
  HintSender& hints_;
  const OnBatch on_batch_;
  std::vector<pgqueue::NewTask> batch_;
  std::size_t batch_bytes_ = 0;
  Counts counts_;
  bool has_submitted_ = false;
};

}  // namespace han::safety
