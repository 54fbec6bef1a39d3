#include "tests/bench/pgbench_drain.h"

#include <chrono>
#include <fstream>
#include <stdexcept>

#include "pgqueue/sql.h"
#include "safety/base/check.h"
#include "tests/bench/bulk_load.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

constexpr std::chrono::minutes kRunLimit{20};
constexpr int kProgramMissing = 127;
constexpr const char* kFirstId = "00000000-0000-0000-0000-000000000000";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What the transactions of the product set for themselves.
std::string settings_sql(const std::string& database) {
  std::string sql;
  for (const char* setting :
       {"enable_seqscan", "enable_bitmapscan", "enable_mergejoin", "enable_nestloop", "jit"}) {
    sql += "ALTER DATABASE " + database + " SET " + setting + " = off; ";
  }
  return sql;
}

std::string database_of(const std::string& conninfo) {
  return conninfo.substr(conninfo.find("dbname=") + 7);
}

std::string host_of(const std::string& conninfo) {
  const auto first = conninfo.find("host=") + 5;
  return conninfo.substr(first, conninfo.find(' ', first) - first);
}

void check(const std::string& conninfo, std::size_t tasks) {
  const std::string left = pg_value(conninfo, "SELECT count(*) FROM message_safety.safety_tasks");
  const std::string done = pg_value(
      conninfo, "SELECT count(DISTINCT task_id) FROM message_safety.results WHERE state = 'done'");
  if (left == "0" && done == std::to_string(tasks)) return;
  throw std::runtime_error("pgbench: " + left + " tasks are left, " + done + " of " +
                           std::to_string(tasks) + " have a result");
}

std::string run_program(const BenchServer& server, const std::string& conninfo,
                        const PgbenchLoad& load) {
  const TempDir dir;
  std::ofstream(dir.file("drain.sql")) << pgbench_script(load.batch);
  const std::size_t batches = load.tasks / load.batch / load.clients;
  Process process({.argv = {server.program("pgbench"), "--no-vacuum", "--host", host_of(conninfo),
                            "--username", "postgres", "--file", dir.file("drain.sql"), "--client",
                            std::to_string(load.clients), "--jobs", "2", "--transactions",
                            std::to_string(batches), "--protocol", load.protocol, "--define",
                            std::string("cursor=") + kFirstId, database_of(conninfo)},
                   .output_path = dir.file("output")});
  const auto status = process.wait(safety::Deadline::after(kRunLimit));
  if (!status) throw std::runtime_error("pgbench does not end");
  if (status->code == kProgramMissing) {
    throw std::runtime_error("pgbench is missing: apt-get install postgresql");
  }
  if (status->code != 0) throw std::runtime_error("pgbench failed: " + process.output());
  return process.output();
}

}  // namespace

std::size_t pgbench_tasks(const PgbenchLoad& load) {
  const std::size_t round = load.batch * load.clients;
  return load.tasks / round * round;
}

std::string with_arguments(std::string_view statement, const std::vector<std::string>& arguments) {
  std::string out;
  for (std::size_t i = 0; i < statement.size(); ++i) {
    if (statement[i] != '$' || i + 1 == statement.size() || !is_digit(statement[i + 1])) {
      out += statement[i];
      continue;
    }
    std::size_t number = 0;
    while (i + 1 < statement.size() && is_digit(statement[i + 1])) {
      number = number * 10 + static_cast<std::size_t>(statement[++i] - '0');
    }
    SAFETY_CHECK(number >= 1 && number <= arguments.size());
    out += arguments[number - 1];
  }
  return out;
}

std::string pgbench_script(std::size_t batch) {
  const std::string count = std::to_string(batch);
  const std::string claim =
      with_arguments(pgqueue::sql::claim(pgqueue::sql::Audit::kOff),
                     {"(SELECT token FROM own)", "(SELECT token FROM own)", "30000", "2097152", "5",
                      count, "1", ":client_id", ":cursor"});
  const std::string none = "NULL::text[]";
  std::vector<std::string> given = {":ids::uuid[]", ":generations::bigint[]",
                                    "array_fill(:token::uuid, ARRAY[" + count + "])", none,
                                    "array_fill('allow'::text, ARRAY[" + count + "])"};
  given.insert(given.end(),
               {none, none, none, none, none, "NULL::bytea[]", none, none, none, none, "'hold'"});
  const std::string complete =
      with_arguments(pgqueue::sql::complete(
                         pgqueue::sql::CompletionLog::kOff, pgqueue::sql::PayloadRetention::kErase,
                         pgqueue::sql::Audit::kOff, pgqueue::sql::LockedRows::kAwait),
                     given);
  return "WITH own AS MATERIALIZED (SELECT gen_random_uuid() AS token, "
         "set_config('synchronous_commit', 'off', true)),\n"
         "claimed AS (" +
         claim +
         ")\nSELECT array_agg(id) AS ids, array_agg(generation) AS generations, "
         "(array_agg(id ORDER BY id DESC))[1] AS cursor, (SELECT token FROM own) AS token "
         "FROM claimed \\gset\n" +
         complete + ";\n";
}

double pgbench_rate(const std::string& output) {
  const auto at = output.find("tps = ");
  if (at == std::string::npos) throw std::runtime_error("pgbench reports no rate: " + output);
  return std::stod(output.substr(at + 6));
}

double run_pgbench(BenchServer& server, const PgbenchLoad& load) {
  const std::size_t tasks = pgbench_tasks(load);
  const std::string conninfo = server.make_database();
  bulk_load(conninfo, {.rows = tasks, .lanes = load.clients});
  pg_execute(conninfo, "VACUUM ANALYZE message_safety.safety_tasks");
  pg_execute(conninfo, settings_sql(database_of(conninfo)));
  const double rate = pgbench_rate(run_program(server, conninfo, load));
  check(conninfo, tasks);
  server.drop_database(conninfo);
  return rate * static_cast<double>(load.batch);
}

}  // namespace han::tests
