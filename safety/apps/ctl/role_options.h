// The names of the schema's roles, where an installation has its own.
//
// Threads: one thread. Blocks: never.
// Fails:   Failure (usage) on a name that is none.
#pragma once

#include <optional>
#include <string>

#include "pgqueue/migrator.h"

namespace CLI {
class App;
}  // namespace CLI

namespace han::safety {

struct RoleOptions {
  std::optional<std::string> owner;
  std::optional<std::string> worker;
  std::optional<std::string> api;
  std::optional<std::string> readonly;

  bool is_any_given() const { return owner || worker || api || readonly; }
};

void add_role_options(CLI::App& app, RoleOptions& options);

// Those given, and the usual names of the others.
pgqueue::RoleNames role_names(const RoleOptions& options);

}  // namespace han::safety
