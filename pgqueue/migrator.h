// Migrator: brings a database's schema up to this program's, forward only.
//
// Each file of migrations/ is embedded, numbered and checksummed. A file is applied in one
// transaction under an advisory lock, so several migrators take turns; a file headed "--
// no-transaction" holds one idempotent statement and runs alone. An applied file that has changed
// since is refused, and so is a connection through a pooler, which may cut a long migration off.
//
// Threads:   one thread at a time.
// Blocks:    up to the deadline, for each file.
// Fails:     throws Error with the file's name and the server's message.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pgqueue/connection.h"

namespace han::pgqueue {

struct MigrationFile {
  int number = 0;
  std::string_view name;
  std::string_view sql;
};

// The embedded files, in order.
std::vector<MigrationFile> embedded_migrations();

struct MigrationStatus {
  int number = 0;
  std::string name;
  enum class State { kApplied, kPending, kChanged, kUnknown } state = State::kPending;
};

struct RoleNames {
  std::string owner = "message_safety_owner";
  std::string worker = "message_safety_worker";
  std::string api = "message_safety_api";
  std::string readonly = "message_safety_readonly";
};

class Migrator {
 public:
  explicit Migrator(Connection& connection,
                    std::vector<MigrationFile> files = embedded_migrations());

  std::vector<MigrationStatus> status(Deadline deadline);
  // Applies what is pending and returns the names applied.
  std::vector<std::string> migrate(Deadline deadline);
  // Makes roles and grants. False: the log settings need a superuser and were left alone.
  bool apply_roles(const RoleNames& names, Deadline deadline);

 private:
  void apply(const MigrationFile& file, Deadline deadline);

  Connection& connection_;
  std::vector<MigrationFile> files_;
};

}  // namespace han::pgqueue
