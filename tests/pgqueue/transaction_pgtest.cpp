#include "pgqueue/error.h"
#include "pgqueue/transaction.h"
#include "tests/pgqueue/queue_fixture.h"

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

TEST_F(TransactionTest, TheServerEndsAStatementAtTheDeadlineToo) {
  Connection connection(conninfo_, soon());
  EXPECT_THROW(Transaction::run(connection, {"sleep", "SELECT pg_sleep(61)", {}},
                                safety::Deadline::after(100ms)),
               pgqueue::Error);
  while (value("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(61)%' "
               "AND state = 'active' AND pid <> pg_backend_pid()") != "0") {
  }
}

}  // namespace han::tests
