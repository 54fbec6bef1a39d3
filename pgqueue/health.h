// What `safetyctl doctor` asks PostgreSQL about itself: version, clock, settings, roles and
// partitions. Every role may ask; the queue's own figures are in task_query.h, grants in grants.h.
//
// Threads:   pure functions over a connection, which is one thread's.
// Blocks:    up to the deadline.
// Fails:     throws Error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pgqueue/connection.h"
#include "pgqueue/migrator.h"

namespace han::pgqueue {

struct ServerFacts {
  std::int32_t version_number = 0;  // 150020 is 15.20
  std::string version;
  std::int64_t clock_ms = 0;  // since 1970
};

ServerFacts server_facts(Connection& connection, Deadline deadline);

// A setting as a session begins with it, or, with a role, as sessions of this role do.
struct SettingValue {
  std::string name;
  std::string value;
  std::string role;

  bool operator==(const SettingValue&) const = default;
};

// Names that the server does not know are left out.
std::vector<SettingValue> setting_values(Connection& connection,
                                         const std::vector<std::string_view>& names,
                                         Deadline deadline);
// Those that ALTER ROLE has set, for this database or all.
std::vector<SettingValue> setting_overrides(Connection& connection,
                                            const std::vector<std::string_view>& names,
                                            Deadline deadline);

struct RoleFacts {
  std::string name;
  bool exists = false;
  bool can_login = false;
  bool has_powers = false;  // superuser, or may create roles or databases, or bypass row security
  bool sees_statistics = false;  // a member of pg_read_all_stats
};

// Owner, worker, api, read-only.
std::vector<RoleFacts> role_facts(Connection& connection, const RoleNames& names,
                                  Deadline deadline);

// Objects of the schema that are not the owner role's.
std::int64_t foreign_owned(Connection& connection, const RoleNames& names, Deadline deadline);

struct PartitionReach {
  std::string table;
  std::int32_t days_ahead = 0;  // after today (UTC); -1: today's partition is missing
};

std::vector<PartitionReach> partition_reach(Connection& connection, Deadline deadline);

}  // namespace han::pgqueue
