#include "tests/simulation/observer.h"

#include <chrono>
#include <stdexcept>

#include "tests/support/await.h"

namespace han::tests {
namespace {

safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(60)); }

const std::string kTruth = R"sql(
SELECT t.state = 'leased', t.generation, t.lease_token, t.lease_until < clock_timestamp(),
       t.attempt, t.crashes::integer, t.suspect, md5(t::text), r.state::text, r.generation,
       r.lease_token,
       (SELECT count(*) FROM message_safety.results x WHERE x.task_id = g.id)
FROM unnest($1) WITH ORDINALITY AS g(id, n)
LEFT JOIN message_safety.safety_tasks t ON t.id = g.id
LEFT JOIN LATERAL (
  SELECT x.* FROM message_safety.results x WHERE x.task_id = g.id LIMIT 1) r ON true
ORDER BY g.n
)sql";

const std::string kTerminateOthers =
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()";

const std::string kBusyOthers =
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle'";

}  // namespace

Observer::Observer(std::string conninfo) : conninfo_(std::move(conninfo)) { reconnect(); }

void Observer::reconnect() {
  connection_ = std::make_unique<pgqueue::Connection>(conninfo_, soon());
}

pgqueue::Rows Observer::run(const std::string& sql, std::vector<pgqueue::Param> params) {
  const pgqueue::Statement statement{"observer", sql, std::move(params)};
  return std::move(
      connection_->run({&statement, 1}, soon(), pgqueue::Connection::Commits::kYes).front());
}

std::vector<Truth> Observer::truths(const std::vector<pgqueue::Uuid>& ids) {
  pgqueue::ArrayParam wanted(pgqueue::Oid::kUuid, ids.size());
  for (const pgqueue::Uuid& id : ids) wanted.add(id);
  const pgqueue::Rows rows = run(kTruth, {wanted.build()});
  std::vector<Truth> truths(ids.size());
  for (int row = 0; row < rows.size(); ++row) {
    Truth& truth = truths[static_cast<std::size_t>(row)];
    if (!rows.is_null(row, 0)) {
      truth.is_live = true;
      truth.is_leased = rows.boolean(row, 0);
      truth.generation = rows.int8(row, 1);
      if (truth.is_leased) {
        truth.token = rows.uuid(row, 2);
        truth.is_over = rows.boolean(row, 3);
      }
      truth.attempt = rows.int4(row, 4);
      truth.crashes = rows.int4(row, 5);
      truth.is_suspect = rows.boolean(row, 6);
      truth.digest = rows.text(row, 7);
    }
    if (!rows.is_null(row, 8)) {
      truth.final_state = rows.text(row, 8);
      truth.final_generation = rows.int8(row, 9);
      if (!rows.is_null(row, 10)) truth.final_token = rows.uuid(row, 10);
    }
    truth.results = rows.int8(row, 11);
  }
  return truths;
}

std::vector<pgqueue::Uuid> Observer::ids(const std::string& sql) {
  const pgqueue::Rows rows = run(sql);
  std::vector<pgqueue::Uuid> ids;
  for (int row = 0; row < rows.size(); ++row) ids.push_back(rows.uuid(row, 0));
  return ids;
}

std::vector<std::pair<std::string, std::int64_t>> Observer::counts(const std::string& sql) {
  const pgqueue::Rows rows = run(sql);
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (int row = 0; row < rows.size(); ++row) {
    counts.emplace_back(rows.text(row, 0), rows.int8(row, 1));
  }
  return counts;
}

std::int64_t Observer::number(const std::string& sql) { return run(sql).int8(0, 0); }

std::string Observer::text(const std::string& sql) {
  const pgqueue::Rows rows = run(sql);
  return rows.size() == 0 || rows.is_null(0, 0) ? "" : std::string(rows.text(0, 0));
}

void Observer::execute(const std::string& sql) { run(sql); }

void Observer::terminate_others() { run(kTerminateOthers); }

void Observer::await_quiet() {
  if (!await([this] { return number(kBusyOthers) == 0; }, std::chrono::seconds(60))) {
    throw std::runtime_error("a connection does not come to rest");
  }
}

}  // namespace han::tests
