// Grants: who may do what in the schema, as apply_roles() of the migrations ships it and as it is.
//
// Threads:   pure functions over a connection, which is one thread's.
// Blocks:    up to the deadline.
// Fails:     throws Error.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "pgqueue/connection.h"
#include "pgqueue/migrator.h"

namespace han::pgqueue {

struct Grant {
  // worker, api, readonly, public or "role NAME" (any that is none of ours); never the owner.
  std::string role;
  // For example "schema", "table results", "column safety_tasks.id", "function submit_tasks".
  std::string object;
  // As PostgreSQL calls it, for example SELECT.
  std::string privilege;

  auto operator<=>(const Grant&) const = default;
};

// Both sorted.
std::vector<Grant> shipped_grants();
std::vector<Grant> read_grants(Connection& connection, const RoleNames& names, Deadline deadline);

}  // namespace han::pgqueue
