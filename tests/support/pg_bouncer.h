// PgBouncer: a real PgBouncer in transaction mode in front of a PgServer, on a unix socket only.
//
// Every transaction may run in another session of the server, and nothing is reset between two:
// what leaves state in a session, or looks for it there, shows.
//
// Threads: one thread at a time.
// Owns:    the PgBouncer process and its folder; the server must outlive it.
// Blocks:  the constructor until a connection through it works (at most 60 s).
// Fails:   std::runtime_error; a missing binary names the Debian package.
#pragma once

#include <optional>
#include <string>

#include "tests/support/pg_server.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace han::tests {

struct PgBouncerOptions {
  // Sessions of the server for each database and user.
  int pool_size = 8;
};

class PgBouncer {
 public:
  explicit PgBouncer(const PgServer& server, PgBouncerOptions options = {});

  // A connection string of the server, led through the pooler.
  std::string through(const std::string& conninfo) const;
  std::string socket_path() const { return (dir_.path() / ".s.PGSQL.6432").string(); }

 private:
  TempDir dir_;
  std::optional<Process> process_;
};

}  // namespace han::tests
