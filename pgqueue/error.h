// Error: what ends a unit of work with the database.
//
// One class with properties, because callers act on properties: retry it, drop the connection, or
// ask whether the commit happened. The text carries the statement's name and the SQLSTATE, never
// what the server said about rows (SPEC I7). The server's own words appear only where they cannot
// quote a row: while connecting, in migrations, and for errors that our own functions raise
// (SQLSTATE HS001).
//
// Threads: a value. Source: the SQLSTATE classes of PostgreSQL's documentation, appendix A.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace han::pgqueue {

// read_only_sql_transaction: PostgreSQL's word for a write on a standby.
inline constexpr std::string_view kReadOnlyState = "25006";

class Error : public std::runtime_error {
 public:
  struct Traits {
    bool connection_is_broken = false;
    bool is_in_doubt = false;
    bool is_deadline = false;
  };

  // `sqlstate` is empty when the server said none.
  Error(std::string_view what, std::string_view sqlstate, Traits traits);

  const std::string& sqlstate() const { return sqlstate_; }
  // The connection cannot be used again; the pool drops it.
  bool connection_is_broken() const { return traits_.connection_is_broken; }
  // A commit was sent and its outcome is not known: do the same again, guarded by the lease token.
  bool is_in_doubt() const { return traits_.is_in_doubt; }
  // The caller's deadline, or the server's statement timeout, ended it.
  bool is_deadline() const { return traits_.is_deadline; }
  // Worth doing again: connection trouble, deadlock, serialization, shutdown, resources, a
  // read-only server.
  bool is_retryable() const;
  // The server rolled the transaction back for another's sake (deadlock, serialization): nothing of
  // it was done, the same again is right. See retry_rollbacks() in transaction.h.
  bool is_rollback() const;
  // A lock was not to be had within the transaction's lock_timeout.
  bool is_lock_timeout() const;
  // The server takes no writes: a standby, or one that is being made the primary.
  bool is_read_only() const;
  // Speaks of the values that were sent (data, constraint, limit), not of the server or the schema.
  bool is_about_values() const;

 private:
  std::string sqlstate_;
  Traits traits_;
};

}  // namespace han::pgqueue
