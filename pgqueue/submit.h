// Submitting: the one call of submit_tasks(), as a statement for our own connections.
//
// Threads: pure functions. Blocks: never. Limits: Queue::kBatchMax tasks a call (checked).
#pragma once

#include <span>
#include <string>

#include "pgqueue/task.h"
#include "pgqueue/wire.h"

namespace han::pgqueue {

Statement submit_statement(const std::string& caller, std::span<const NewTask> tasks);
Submitted submitted_of(const Rows& rows);

// The word of submit_tasks() as an outcome.
SubmitOutcome submit_outcome(std::string_view word);

}  // namespace han::pgqueue
