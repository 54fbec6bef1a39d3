#include "pgqueue/health.h"

#include "pgqueue/sql.h"
#include "pgqueue/transaction.h"

namespace han::pgqueue {
namespace {

Param texts(const std::vector<std::string_view>& values) {
  ArrayParam array(Oid::kText, values.size());
  for (const std::string_view value : values) array.add(value);
  return array.build();
}

}  // namespace

ServerFacts server_facts(Connection& connection, Deadline deadline) {
  const Rows rows = Transaction::run(connection, {"server", sql::kServerFacts, {}}, deadline);
  return {rows.int4(0, 0), std::string(rows.text(0, 1)), rows.int8(0, 2)};
}

std::vector<SettingValue> setting_values(Connection& connection,
                                         const std::vector<std::string_view>& names,
                                         Deadline deadline) {
  const Rows rows =
      Transaction::run(connection, {"settings", sql::kSettingValues, {texts(names)}}, deadline);
  std::vector<SettingValue> values;
  values.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    values.push_back({std::string(rows.text(row, 0)), std::string(rows.text(row, 1)), ""});
  }
  return values;
}

std::vector<SettingValue> setting_overrides(Connection& connection,
                                            const std::vector<std::string_view>& names,
                                            Deadline deadline) {
  const Rows rows = Transaction::run(
      connection, {"settings of roles", sql::kSettingOverrides, {texts(names)}}, deadline);
  std::vector<SettingValue> values;
  values.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    values.push_back({std::string(rows.text(row, 1)), std::string(rows.text(row, 2)),
                      std::string(rows.text(row, 0))});
  }
  return values;
}

std::vector<RoleFacts> role_facts(Connection& connection, const RoleNames& names,
                                  Deadline deadline) {
  const std::vector<std::string_view> all = {names.owner, names.worker, names.api, names.readonly};
  const Rows rows =
      Transaction::run(connection, {"roles", sql::kRoleFacts, {texts(all)}}, deadline);
  std::vector<RoleFacts> facts;
  facts.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    facts.push_back({std::string(all.at(static_cast<std::size_t>(row))), rows.boolean(row, 0),
                     rows.boolean(row, 1), rows.boolean(row, 2), rows.boolean(row, 3)});
  }
  return facts;
}

std::int64_t foreign_owned(Connection& connection, const RoleNames& names, Deadline deadline) {
  const Rows rows = Transaction::run(
      connection,
      {"owners", sql::kForeignOwned, {Param::text(names.owner), Param::text(names.readonly)}},
      deadline);
  return rows.int8(0, 0);
}

std::vector<PartitionReach> partition_reach(Connection& connection, Deadline deadline) {
  const Rows rows =
      Transaction::run(connection, {"partitions", sql::kPartitionsAhead, {}}, deadline);
  std::vector<PartitionReach> reach;
  reach.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    reach.push_back({std::string(rows.text(row, 0)), rows.int4(row, 1)});
  }
  return reach;
}

}  // namespace han::pgqueue
