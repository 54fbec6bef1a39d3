// The database of a command: its address, and what its errors mean to an operator.
//
// Threads: pure functions, or one thread. Blocks: connect_database up to its deadline.
// Fails:   Failure; no text of it holds a part of the address.
#pragma once

#include <optional>
#include <string>

#include "pgqueue/connection.h"
#include "pgqueue/error.h"
#include "pgqueue/pool.h"
#include "safety/apps/ctl/failure.h"

namespace CLI {
class App;
}  // namespace CLI

namespace han::safety {

// What every command of the database takes.
struct DatabaseOptions {
  std::optional<std::string> url;  // else MESSAGE_SAFETY_DATABASE_URL, or the file of _URL_FILE
  bool json = false;
};

void add_database_options(CLI::App& app, DatabaseOptions& options);

std::string database_url(const DatabaseOptions& options);
// That of the environment alone, if there is one.
std::optional<std::string> environment_database_url();

// For commands that need a pool: one connection.
pgqueue::PoolOptions command_pool(const DatabaseOptions& options);

pgqueue::Connection connect_database(const DatabaseOptions& options);

// How long a statement of a command may take.
Deadline statement_deadline();

// libpq quotes the address when it cannot make sense of it: then nothing of its text is shown.
Failure database_failure(const pgqueue::Error& error);

}  // namespace han::safety
