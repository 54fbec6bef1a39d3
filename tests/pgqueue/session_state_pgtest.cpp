// What the queue leaves behind in a session: nothing, so that a pooler may give each transaction
// another one.
#include "pgqueue/error.h"
#include "pgqueue/pool.h"
#include "pgqueue/transaction.h"
#include "pgqueue/verdict_rows.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

using pgqueue::Completion;
using pgqueue::Connection;
using pgqueue::Statement;
using pgqueue::Transaction;

class SessionState : public QueueFixture {
 protected:
  void SetUp() override {
    QueueFixture::SetUp();
    open_one();
  }
  void open_one() {
    queue_.reset();
    pool_ = std::make_unique<pgqueue::Pool>(
        pgqueue::PoolOptions{.conninfo = conninfo_, .connections_max = 1});
    queue_ = std::make_unique<pgqueue::Queue>(*pool_, pgqueue::QueueOptions{});
  }

  // Of the session that the next transaction gets, seen from inside.
  std::string in_session(const std::string& sql) {
    const auto connection = pool_->acquire(soon());
    const std::string text = "SELECT (" + sql + ")::text";
    const Statement statement{"look", text, {}};
    const auto rows = connection->run({&statement, 1}, soon(), Connection::Commits::kNo);
    return rows[0].is_null(0, 0) ? "" : std::string(rows[0].text(0, 0));
  }

  // Everything that leaves something in a session, as far as a session shows it to itself. The
  // names left out are those that a client sets when it connects, and a pooler passes on.
  std::string state() {
    return in_session(
        "SELECT concat_ws(', ',"
        " (SELECT string_agg('SET ' || name, ', ') FROM pg_settings WHERE source = 'session' AND"
        "  lower(name) NOT IN ('application_name', 'client_encoding', 'datestyle', 'timezone',"
        "                      'standard_conforming_strings')),"
        " (SELECT 'PREPARE ' || string_agg(name, ', ') FROM pg_prepared_statements"
        "  HAVING count(*) > 0),"
        " (SELECT 'advisory locks ' || count(*) FROM pg_locks WHERE locktype = 'advisory'"
        "  HAVING count(*) > 0),"
        " (SELECT 'cursors ' || count(*) FROM pg_cursors WHERE name <> '' HAVING count(*) > 0),"
        " (SELECT 'LISTEN ' || count(*) FROM pg_listening_channels() HAVING count(*) > 0),"
        " (SELECT 'a temporary schema' WHERE pg_my_temp_schema() <> 0))");
  }

  void work() {
    const auto ids = submit(20);
    const auto tasks = claim(12);
    std::vector<pgqueue::Lease> leases;
    std::vector<Completion> completions;
    for (const auto& task : tasks) {
      leases.push_back(task.lease);
      completions.push_back(completion_of(task.lease));
    }
    queue_->heartbeat(leases, soon());
    queue_->complete(
        std::span(completions).first(6),
        [](Transaction& transaction, std::span<const std::size_t>) {
          pgqueue::enqueue_verdicts(
              transaction,
              {{{"text", std::string(32, 'h'), "p1", "r", "c", ""}, "block", "evidence"}});
        },
        soon());
    queue_->complete(std::span(completions).subspan(6, 2), nullptr, soon());
    queue_->release(std::span(leases).subspan(8, 2), soon());
    const pgqueue::GiveBack later{leases[10], 1h, true, "transient"};
    queue_->give_back({&later, 1}, soon());
    queue_->rescue({}, 100, soon());
    queue_->unpark(100, soon());
    queue_->cancel(ids.back(), soon());
    queue_->maintain_partitions(soon());
    // What fails, times out and is rolled back leaves nothing either.
    const auto connection = pool_->acquire(soon());
    EXPECT_THROW(Transaction::run(*connection, {"fail", "SELECT 1/0", {}}, soon()), pgqueue::Error);
    {
      Transaction dropped(*connection);
      dropped.execute({"look", "SELECT 1", {}}, soon());
    }
  }
};

TEST_F(SessionState, R25_AMixedWorkloadLeavesNoneBehind) {
  work();
  EXPECT_EQ(state(), "");
  EXPECT_EQ(in_session("SELECT current_setting('statement_timeout')"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), "0");
}

TEST_F(SessionState, R25_WhatIsLeftInASessionIsSeen) {
  use_sessions("it leaves state in a session in order to see it there");
  open_one();
  {
    const auto connection = pool_->acquire(soon());
    connection->run_script(
        "SET enable_seqscan = off; PREPARE p AS SELECT 1; SELECT pg_advisory_lock(1); LISTEN c;"
        "CREATE TEMP TABLE t (x int); DECLARE k CURSOR WITH HOLD FOR SELECT 1",
        soon());
  }
  EXPECT_EQ(state(),
            "SET enable_seqscan, PREPARE p, advisory locks 1, cursors 1, LISTEN 1, "
            "a temporary schema");
}

}  // namespace han::tests
