// Submitting: the one call of submit_tasks(), as a statement for our own connections.
//
// Threads: pure functions. Blocks: never.
// Fails:   Error (SQLSTATE 54000) when the tasks of a call are too many bytes; nothing is sent.
// Limits:  Queue::kBatchMax tasks a call (checked); kSubmitBytesMax of text, keys and subjects.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "pgqueue/task.h"
#include "pgqueue/wire.h"

namespace han::pgqueue {

// PostgreSQL takes no message of 1 GiB; libpqxx sends each byte of a text as two.
inline constexpr std::size_t kSubmitBytesMax = std::size_t{256} << 20;

void check_submit_bytes(std::span<const NewTask> tasks);

Statement submit_statement(const std::string& caller, std::span<const NewTask> tasks);
Submitted submitted_of(const Rows& rows);

// The word of submit_tasks() as an outcome.
SubmitOutcome submit_outcome(std::string_view word);

}  // namespace han::pgqueue
