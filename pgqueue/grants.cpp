#include "pgqueue/grants.h"

#include <algorithm>
#include <string_view>

#include "pgqueue/sql.h"
#include "pgqueue/transaction.h"

namespace han::pgqueue {
namespace {

// Names apart by a space; in the order of migrations/0006_roles.sql, whose test compares them.
struct Shipped {
  std::string_view roles;
  std::string_view sort;
  std::string_view objects;
  std::string_view privileges;
};

constexpr Shipped kShipped[] = {
    {"worker api readonly", "", "schema", "USAGE"},
    {"worker", "table ", "safety_tasks", "SELECT UPDATE DELETE"},
    {"worker", "table ", "results verdicts", "SELECT INSERT"},
    {"worker", "table ", "payloads completion_log audit", "INSERT"},
    {"worker", "table ", "callers results_default paused_kinds", "SELECT"},
    {"worker", "function ",
     "maintain_partitions apply_retention rescue_suspects unpause snapshot_age_ms", "EXECUTE"},
    {"api", "function ", "submit_tasks cancel_task uuid_v7 snapshot_age_ms", "EXECUTE"},
    {"api", "table ", "results verdicts callers results_default paused_kinds", "SELECT"},
    {"api readonly", "column safety_tasks.",
     "id generation run_at decide_by lease_until submitted_at subject_version state attempt class "
     "lane parked suspect paused crashes kind redrive_of last_failure",
     "SELECT"},
    {"readonly", "table ", "results results_default verdicts callers paused_kinds audit", "SELECT"},
    {"readonly", "function ", "snapshot_age_ms", "EXECUTE"},
};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    all.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

}  // namespace

std::vector<Grant> shipped_grants() {
  std::vector<Grant> grants;
  for (const Shipped& line : kShipped) {
    for (const auto& role : words(line.roles)) {
      for (const auto& object : words(line.objects)) {
        for (const auto& privilege : words(line.privileges)) {
          grants.push_back({role, std::string(line.sort) + object, privilege});
        }
      }
    }
  }
  std::ranges::sort(grants);
  return grants;
}

std::vector<Grant> read_grants(Connection& connection, const RoleNames& names, Deadline deadline) {
  const Rows rows = Transaction::run(connection,
                                     {"grants",
                                      sql::kGrants,
                                      {Param::text(names.owner), Param::text(names.worker),
                                       Param::text(names.api), Param::text(names.readonly)}},
                                     deadline);
  std::vector<Grant> grants;
  grants.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    grants.push_back({std::string(rows.text(row, 0)), std::string(rows.text(row, 1)),
                      std::string(rows.text(row, 2))});
  }
  std::ranges::sort(grants);
  return grants;
}

}  // namespace han::pgqueue
