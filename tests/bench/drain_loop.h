// Drain loop: one thread claims batches, several complete them, until a claim comes back empty.
//
// Both queue benchmarks drain with it, so that every design runs under the same load.
//
// Threads: `claim` is called on one thread, `complete` on several at once.
// Owns:    its threads, for the time of the call.
// Blocks:  until everything claimed is completed.
// Fails:   throws what `claim` or `complete` threw first.
// Limits:  at most one claimed batch a completer waits, so the claimer cannot run far ahead.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "pgqueue/task.h"

namespace han::tests {

struct DrainWork {
  std::function<std::vector<pgqueue::Lease>()> claim;
  // Returns how many of the batch were completed; number `completer` is 0, 1, ...
  std::function<std::size_t(std::span<const pgqueue::Lease>, std::size_t completer)> complete;
  std::size_t completers = 2;
};

struct DrainResult {
  std::size_t completed = 0;
  double seconds = 0;
};

DrainResult drain(const DrainWork& work);

}  // namespace han::tests
