#include "pgqueue/connection.h"
#include "pgqueue/error.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

using pgqueue::Connection;
using pgqueue::Statement;

class ConnectionTest : public QueueFixture {
 protected:
  static pgqueue::Error error_of(Connection& connection, const std::string& sql,
                                 safety::Deadline deadline = soon()) {
    const Statement statement{"probe", sql, {}};
    try {
      connection.run({&statement, 1}, deadline, Connection::Commits::kNo);
    } catch (const pgqueue::Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return {"", "", {}};
  }
};

TEST_F(ConnectionTest, AnErrorCarriesTheSqlStateAndNotTheRow) {
  Connection connection(conninfo_, soon());
  const auto error = error_of(connection, "SELECT 'canary-text'::integer");
  EXPECT_EQ(error.sqlstate(), "22P02");
  EXPECT_STREQ(error.what(), "probe failed (SQLSTATE 22P02)");
  EXPECT_FALSE(error.is_retryable());
  EXPECT_TRUE(connection.is_usable());
}

TEST_F(ConnectionTest, AnErrorInAFlightUndoesTheStatementsBeforeIt) {
  Connection connection(conninfo_, soon());
  const std::vector<Statement> flight = {{"make", "CREATE TABLE t (x int)", {}},
                                         {"fail", "SELECT 1/0", {}}};
  EXPECT_THROW(connection.run(flight, soon(), Connection::Commits::kYes), pgqueue::Error);
  EXPECT_EQ(value("SELECT to_regclass('t') IS NULL"), "true");
}

TEST_F(ConnectionTest, AnErrorOfTheCommitItselfIsToldAsWhatItIs) {
  execute("CREATE TABLE t (x int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
  Connection connection(conninfo_, soon());
  const auto error = error_of(connection, "INSERT INTO t VALUES (1), (1)");
  EXPECT_EQ(error.sqlstate(), "23505");
  EXPECT_FALSE(error.is_in_doubt());
  EXPECT_TRUE(connection.is_usable());
  EXPECT_EQ(value("SELECT count(*) FROM t"), "0");
}

TEST_F(ConnectionTest, ADeadlineClosesTheConnection) {
  Connection connection(conninfo_, soon());
  const auto error = error_of(connection, "SELECT pg_sleep(3)", safety::Deadline::after(50ms));
  EXPECT_TRUE(error.is_deadline());
  EXPECT_TRUE(error.connection_is_broken());
  EXPECT_FALSE(connection.is_usable());
  EXPECT_TRUE(error_of(connection, "SELECT 1").connection_is_broken());
}

TEST_F(ConnectionTest, ALostConnectionIsRetryable) {
  Connection connection(conninfo_, soon());
  const auto error = error_of(connection, "SELECT pg_terminate_backend(pg_backend_pid())");
  EXPECT_TRUE(error.is_retryable());
  EXPECT_FALSE(connection.is_usable());
}

TEST_F(ConnectionTest, AFailedConnectSaysWhyAndHidesThePassword) {
  try {
    const Connection connection("host=/nonexistent user=u password=canary-secret dbname=d", soon());
    FAIL() << "connected to nothing";
  } catch (const pgqueue::Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("/nonexistent"), std::string::npos) << what;
    EXPECT_EQ(what.find("canary"), std::string::npos) << what;
  }
}

TEST_F(ConnectionTest, AMalformedConnectionStringIsNotQuoted) {
  for (const char* conninfo :
       {"postgresql://u:canary-secret@[h/d", "password canary-secret", "host=h 'canary-secret"}) {
    try {
      const Connection connection(conninfo, soon());
      ADD_FAILURE() << "connected to nothing";
    } catch (const pgqueue::Error& error) {
      EXPECT_STREQ(error.what(), "connect: the connection string is malformed");
    }
  }
}

TEST_F(ConnectionTest, APasswordThatIsNotEscapedIsNotQuoted) {
  for (const char* conninfo :
       {"postgresql://svc:canarysecretA/tail@127.0.0.1/db",
        "postgresql://svc:head@canarysecretB@127.0.0.1/db", "host=127.0.0.1 port=canarysecretC"}) {
    try {
      const Connection connection(conninfo, soon());
      ADD_FAILURE() << "connected to nothing";
    } catch (const pgqueue::Error& error) {
      EXPECT_EQ(std::string(error.what()).find("canarysecret"), std::string::npos) << error.what();
    }
  }
}

TEST_F(ConnectionTest, LargeParametersAndRowsPass) {
  Connection connection(conninfo_, soon());
  const std::string large(8 << 20, 'x');
  const Statement statement{"echo", "SELECT $1::text", {pgqueue::Param::text(large)}};
  const auto rows = connection.run({&statement, 1}, soon(), Connection::Commits::kNo);
  EXPECT_EQ(rows[0].text(0, 0), large);
}

TEST_F(ConnectionTest, ManyStatementsTravelInOneFlight) {
  Connection connection(conninfo_, soon());
  std::vector<Statement> flight(200, Statement{"n", "SELECT generate_series(1, 100)", {}});
  const auto rows = connection.run(flight, soon(), Connection::Commits::kNo);
  ASSERT_EQ(rows.size(), 200U);
  EXPECT_EQ(rows[199].size(), 100);
}

}  // namespace han::tests
