// Submitter: gathers tasks into batches and submits each in one transaction.
//
// Threads: one thread at a time. Owns: the batch; the queue and the sender must outlive it.
// Blocks:  add() and flush() while a batch is submitted.
// Fails:   Failure, which says how many tasks were submitted before; the batch is dropped.
// Limits:  1,000 tasks or 8 MiB of text a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pgqueue/queue.h"
#include "safety/apps/ctl/hint_sender.h"

namespace han::safety {

class Submitter {
 public:
  static constexpr std::size_t kBatchTasksMax = 1000;
  static constexpr std::size_t kBatchBytesMax = std::size_t{8} << 20;

  struct Counts {
    std::uint64_t created = 0;
    std::uint64_t duplicate = 0;
    std::uint64_t conflict = 0;
    std::uint64_t superseded = 0;
    // Tasks that stand for what was given; a conflict submits nothing.
    std::uint64_t submitted() const { return created + duplicate + superseded; }
  };

  // Called for each batch that was committed, with its submissions in the order given.
  using OnBatch = std::function<void(const std::vector<pgqueue::Submission>&)>;

  Submitter(pgqueue::Queue& queue, std::string caller, HintSender& hints, OnBatch on_batch);

  void add(pgqueue::NewTask task);
  void flush();

  const Counts& counts() const { return counts_; }
  std::size_t waiting() const { return batch_.size(); }  // tasks not submitted yet

 private:
  void count(const pgqueue::Submission& submission);

  pgqueue::Queue& queue_;
  const std::string caller_;
  HintSender& hints_;
  const OnBatch on_batch_;
  std::vector<pgqueue::NewTask> batch_;
  std::size_t batch_bytes_ = 0;
  Counts counts_;
};

}  // namespace han::safety
