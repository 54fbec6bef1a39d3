// Submitting inside a transaction of libpqxx: for an API that keeps its own connections.
//
// The tasks exist exactly when the caller's transaction commits; the hint is due after that.
//
// Threads:   as the transaction: one thread at a time.
// Blocks:    as libpqxx: without a deadline of ours.
// Fails:     throws what libpqxx throws; the caller's transaction is aborted then, as after any
//            failed statement. Error when the tasks are too many bytes (submit.h): nothing is sent.
// Limits:    as Queue::submit().
#pragma once

#include <span>
#include <string>

#include "pgqueue/task.h"

namespace pqxx {
class transaction_base;
}

namespace han::pgqueue {

Submitted submit(pqxx::transaction_base& transaction, const std::string& caller,
                 std::span<const NewTask> tasks);

}  // namespace han::pgqueue
