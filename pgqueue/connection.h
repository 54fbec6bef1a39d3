// Connection: one connection to PostgreSQL, with one absolute deadline for every call.
//
// libpq in non-blocking pipeline mode: all statements of a call travel in one flight, and outside
// an explicit transaction they are one implicit transaction that ends with the flight. No session
// state is made: no SET, no prepared statement, no LISTEN, so transaction-mode poolers work.
//
// Threads:   one thread at a time.
// Owns:      the socket.
// Blocks:    up to the deadline; name look-up while connecting is libpq's and can exceed it.
// Fails:     throws Error. After a deadline, a broken connection or the word of a server that it is
//            read-only, `is_usable()` is false: a new connection may find one that is not.
// Source:    PostgreSQL documentation, libpq chapters "Pipeline Mode" and "Asynchronous Command
// Processing".
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pgqueue/wire.h"
#include "safety/base/deadline.h"

struct pg_conn;

namespace han::pgqueue {

using safety::Deadline;

class Connection {
 public:
  // `conninfo` is a libpq connection string or URI; a writable server is asked for unless it says
  // otherwise.
  Connection(const std::string& conninfo, Deadline deadline);

  // Runs the statements in order, in one flight. All rows, or an Error of the first that failed.
  // `may_commit` tells whether a lost answer leaves a commit in doubt.
  enum class Commits { kNo, kYes };
  std::vector<Rows> run(std::span<const Statement> statements, Deadline deadline,
                        Commits may_commit);

  // Runs a script of several statements without parameters in one implicit transaction; for
  // migrations. Errors carry the server's message.
  void run_script(const std::string& sql, Deadline deadline);

  // Whether libpq can read the connection string; never quotes it.
  static bool is_well_formed(const std::string& conninfo);

  bool is_usable() const;
  // The server was found to take no writes (Error::is_read_only()).
  bool is_read_only() const { return is_read_only_; }
  // Whether a pooler stands between us and the server: its process is not the one that the
  // connection was promised.
  bool is_pooled(Deadline deadline);
  // True when the server closed the connection while it was idle, or sent something unasked.
  bool has_died_idle() const;

 private:
  struct Close {
    void operator()(pg_conn* connection) const noexcept;
  };
  void connect(const std::string& conninfo, const char* session_attrs, Deadline deadline);
  void prepare();
  void send_all(std::span<const Statement> statements);
  void flush(Deadline deadline, std::string_view name, Commits may_commit);
  void await_result(Deadline deadline, std::string_view name, Commits may_commit);
  [[noreturn]] void fail_connection(std::string_view name, Commits may_commit, bool is_deadline);

  std::unique_ptr<pg_conn, Close> connection_;
  bool is_broken_ = false;
  bool is_read_only_ = false;
};

}  // namespace han::pgqueue
