#include <atomic>
#include <thread>

#include "pgqueue/error.h"
#include "pgqueue/transaction.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

using pgqueue::Connection;
using pgqueue::Durability;
using pgqueue::Transaction;

class TransactionTest : public QueueFixture {};

TEST_F(TransactionTest, CommitsWhatWasEnqueued) {
  Connection connection(conninfo_, soon());
  Transaction transaction(connection);
  transaction.enqueue({"make", "CREATE TABLE t AS SELECT 1 AS x", {}});
  transaction.commit(soon());
  EXPECT_EQ(value("SELECT x FROM t"), "1");
  EXPECT_TRUE(connection.is_usable());
}

TEST_F(TransactionTest, RollsBackWithoutACommitAndLeavesTheConnectionUsable) {
  Connection connection(conninfo_, soon());
  {
    Transaction transaction(connection);
    transaction.execute({"make", "CREATE TABLE t AS SELECT 1 AS x", {}}, soon());
  }
  EXPECT_TRUE(connection.is_usable());
  EXPECT_EQ(value("SELECT to_regclass('t') IS NULL"), "true");
}

TEST_F(TransactionTest, RollsBackAfterAnError) {
  Connection connection(conninfo_, soon());
  {
    Transaction transaction(connection);
    EXPECT_THROW(transaction.execute({"fail", "SELECT 1/0", {}}, soon()), pgqueue::Error);
  }
  EXPECT_TRUE(connection.is_usable());
}

TEST_F(TransactionTest, SettingsAreLocalToIt) {
  Connection connection(conninfo_, soon());
  const auto setting = [&](const char* sql) {
    return std::string(
        Transaction::run(connection, {"show", sql, {}}, soon(), Durability::kAsynchronous)
            .text(0, 0));
  };
  EXPECT_EQ(setting("SELECT current_setting('synchronous_commit')"), "off");
  EXPECT_EQ(setting("SELECT current_setting('enable_seqscan')"), "off");
  const pgqueue::Statement show{"show", "SELECT current_setting('synchronous_commit')", {}};
  EXPECT_EQ(connection.run({&show, 1}, soon(), Connection::Commits::kNo)[0].text(0, 0), "on");
}

// A slow statement costs no connection: the server says that the time is over before we give up.
TEST_F(TransactionTest, TheServersWordComesBeforeTheDeadline) {
  // A quarter of a second before, which a busy machine may use up.
  for (int tries = 0; tries < 5; ++tries) {
    Connection connection(conninfo_, soon());
    try {
      Transaction::run(connection, {"sleep", "SELECT pg_sleep(62)", {}},
                       safety::Deadline::after(2s));
      FAIL() << "no error";
    } catch (const pgqueue::Error& error) {
      EXPECT_TRUE(error.is_deadline());
      if (error.sqlstate() != "57014") continue;
      EXPECT_FALSE(error.is_in_doubt());
    }
    EXPECT_TRUE(connection.is_usable());
    return;
  }
  FAIL() << "the server never answered in time";
}

TEST_F(TransactionTest, TheServerEndsAStatementAtTheDeadlineToo) {
  Connection connection(conninfo_, soon());
  EXPECT_THROW(Transaction::run(connection, {"sleep", "SELECT pg_sleep(61)", {}},
                                safety::Deadline::after(100ms)),
               pgqueue::Error);
  EXPECT_TRUE(await([&] {
    return value(
               "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(61)%' "
               "AND state = 'active' AND pid <> pg_backend_pid()") == "0";
  }));
}

// Both take the locks in the order that they are given; whoever the server chooses starts again.
TEST_F(TransactionTest, R20_ADeadlockIsRetriedAndNeverSurfaces) {
  const auto deadlocks = [&] {
    return std::stoi(
        value("SELECT pg_stat_get_db_deadlocks(oid) FROM pg_database "
              "WHERE datname = current_database()"));
  };
  const int before = deadlocks();
  std::atomic<bool> is_over{false};
  std::atomic<int> surfaced{0};
  const auto work = [&](const std::string& first, const std::string& second) {
    Connection connection(conninfo_, soon());
    const std::string sql = "SELECT pg_advisory_xact_lock(" + first +
                            "), pg_sleep(0.02), pg_advisory_xact_lock(" + second + ")";
    while (!is_over) {
      try {
        Transaction::run(connection, {"cross", sql, {}}, soon());
      } catch (const pgqueue::Error&) {
        ++surfaced;
      }
    }
  };
  {
    const std::jthread one(work, "1", "2");
    const std::jthread two(work, "2", "1");
    EXPECT_TRUE(await([&] { return deadlocks() >= before + 2; }));
    is_over = true;
  }
  EXPECT_EQ(surfaced, 0);
}

TEST_F(TransactionTest, R20_ASerializationFailureIsRetriedAndNothingIsDoneTwice) {
  execute("CREATE TABLE t AS SELECT 0 AS x");
  execute(
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = %L', "
      "current_database(), 'repeatable read'); END $$");
  use_sessions("a pooler's sessions may be older than a setting of their database");
  std::atomic<int> surfaced{0};
  const auto work = [&] {
    Connection connection(conninfo_, soon());
    for (int i = 0; i < 25; ++i) {
      try {
        // The snapshot is older than the pause, so crossing updates cannot be serialized.
        Transaction::run(connection, {"add", "UPDATE t SET x = x + 1 FROM pg_sleep(0.001)", {}},
                         soon());
      } catch (const pgqueue::Error&) {
        ++surfaced;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  }
  EXPECT_EQ(surfaced, 0);
  EXPECT_EQ(value("SELECT x FROM t"), "100");
  EXPECT_TRUE(await([&] {
    return value(
               "SELECT pg_stat_get_db_xact_rollback(oid) FROM pg_database "
               "WHERE datname = current_database()") != "0";
  }));
}

TEST_F(TransactionTest, R20_ARollbackIsRetriedNoLongerThanTheDeadline) {
  Connection connection(conninfo_, soon());
  const std::string sql = "DO $$ BEGIN RAISE EXCEPTION '' USING ERRCODE = '40001'; END $$";
  try {
    Transaction::run(connection, {"fail", sql, {}}, safety::Deadline::after(50ms));
    FAIL() << "no error";
  } catch (const pgqueue::Error& error) {
    EXPECT_TRUE(error.is_retryable());
  }
}

}  // namespace han::tests
