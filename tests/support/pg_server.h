// PgServer: a real PostgreSQL of one test program, in its own folder, on a unix socket only.
//
// Each test takes a database of its own, copied from one with all migrations applied. A standby
// streams what a primary writes, and takes no writes until it is promoted.
//
// Threads: one thread at a time.
// Owns:    the server process and its folder.
// Blocks:  start() until the server answers (at most 60 s).
// Fails:   std::runtime_error; a missing binary names the Debian package.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace han::tests {

struct PgServerOptions {
  // More arguments of postgres, for example {"-c", "log_statement=all"}.
  std::vector<std::string> arguments;
  // "NAME=value" entries that are added to the server's environment.
  std::vector<std::string> env;
  // On the disk, with fsync, for what is measured or runs long. Else its files are in memory where
  // there is room: processes are killed here, never the machine, and what a server has written, the
  // system keeps.
  bool is_on_disk = false;
};

class PgServer {
 public:
  explicit PgServer(PgServerOptions options = {});
  // A hot standby of a running server, caught up when this returns.
  struct StandbyOf {
    const PgServer& primary;
  };
  explicit PgServer(StandbyOf of, PgServerOptions options = {});
  ~PgServer();

  void start();
  // SIGINT: PostgreSQL's fast shutdown.
  void stop();
  // SIGQUIT: an immediate shutdown, as a crash leaves it.
  void crash();
  // SIGKILL to every process at once: nothing is written out any more.
  void kill();
  void pause();
  void resume();
  // Makes a standby the primary; returns when it takes writes.
  void promote();
  // The server's processes at this moment, the first one is the postmaster.
  std::vector<pid_t> processes() const;

  // A connection string of `database` as superuser.
  std::string conninfo(const std::string& database = "postgres") const;
  // Makes a new database with the product's schema and returns its connection string.
  std::string make_database();
  std::string socket_path() const { return (dir_.path() / ".s.PGSQL.5432").string(); }
  const TempDir& dir() const { return dir_; }
  // A program of the same installation, for example "pgbench".
  std::string program(const std::string& name) const { return bin_ + "/" + name; }
  // What the server has logged so far.
  std::string log() const;

 private:
  void take_folder();
  void run_to_end(std::vector<std::string> argv);

  PgServerOptions options_;
  TempDir dir_;
  std::string bin_;
  std::optional<Process> process_;
  int databases_made_ = 0;
};

// Runs statements without results in the database of `conninfo`.
void pg_execute(const std::string& conninfo, const std::string& sql);
// The one value of a query as text; empty when NULL or without a row.
std::string pg_value(const std::string& conninfo, const std::string& sql);

}  // namespace han::tests
