// The database of a command: its address, and what its errors mean to an operator.
//
// Threads: pure functions, or one thread. Blocks: connect_database up to its deadline.
// Fails:   Failure; no text of it holds a part of the address.
#pragma once

#include <optional>
#include <string>

#include "pgqueue/connection.h"
#include "pgqueue/error.h"
#include "safety/apps/ctl/failure.h"

namespace CLI {
class App;
}  // namespace CLI

namespace han::safety {

void add_database_option(CLI::App& app, std::optional<std::string>& target);

// The option's value, else MESSAGE_SAFETY_DATABASE_URL.
std::string database_url(const std::optional<std::string>& option);

pgqueue::Connection connect_database(const std::optional<std::string>& option);

// How long a statement of a command may take.
Deadline statement_deadline();

// libpq quotes the address when it cannot make sense of it: then nothing of its text is shown.
Failure database_failure(const pgqueue::Error& error);

}  // namespace han::safety
