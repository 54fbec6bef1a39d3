#include <thread>

#include "pgqueue/error.h"
#include "pgqueue/pool.h"
#include "pgqueue/transaction.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

using pgqueue::Pool;

class PoolTest : public QueueFixture {};

TEST_F(PoolTest, KeepsAConnectionForTheNextLease) {
  Pool pool({.conninfo = conninfo_, .connections_max = 2});
  { const auto lease = pool.acquire(soon()); }
  { const auto lease = pool.acquire(soon()); }
  EXPECT_EQ(pool.stats().connects, 1U);
  EXPECT_EQ(pool.stats().in_use, 0U);
  EXPECT_EQ(pool.stats().idle, 1U);
}

TEST_F(PoolTest, IsBoundedAndSaysSoAtTheDeadline) {
  Pool pool({.conninfo = conninfo_, .connections_max = 1});
  const auto lease = pool.acquire(soon());
  try {
    static_cast<void>(pool.acquire(safety::Deadline::after(20ms)));
    FAIL() << "a second connection was given out";
  } catch (const pgqueue::Error& error) {
    EXPECT_TRUE(error.is_deadline());
    EXPECT_TRUE(error.is_retryable());
  }
}

TEST_F(PoolTest, AWaiterGetsTheConnectionThatIsGivenBack) {
  Pool pool({.conninfo = conninfo_, .connections_max = 1});
  auto lease = std::make_unique<Pool::Lease>(pool.acquire(soon()));
  std::jthread waiter([&] { const auto mine = pool.acquire(soon()); });
  lease.reset();
  waiter.join();
  EXPECT_EQ(pool.stats().connects, 1U);
}

TEST_F(PoolTest, DropsConnectionsThatDiedIdle) {
  use_sessions("it ends the server's sessions; a pooler's connections to us outlive those");
  Pool pool({.conninfo = conninfo_});
  { const auto lease = pool.acquire(soon()); }
  execute(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
      "WHERE datname = current_database() AND pid <> pg_backend_pid()");
  const auto lease = pool.acquire(soon());
  const pgqueue::Statement statement{"probe", "SELECT 1", {}};
  EXPECT_EQ(lease->run({&statement, 1}, soon(), pgqueue::Connection::Commits::kNo).size(), 1U);
  EXPECT_EQ(pool.stats().connects, 2U);
}

TEST_F(PoolTest, DropsAConnectionThatIsLeftInsideATransaction) {
  Pool pool({.conninfo = conninfo_});
  {
    const auto lease = pool.acquire(soon());
    const pgqueue::Statement statement{"begin", "BEGIN", {}};
    lease->run({&statement, 1}, soon(), pgqueue::Connection::Commits::kNo);
  }
  EXPECT_EQ(pool.stats().idle, 0U);
}

TEST_F(PoolTest, ADeadServerFailsWithinTheDeadlineAndIsNotStormed) {
  Pool pool({.conninfo = "host=/nonexistent user=postgres dbname=none",
             .backoff = safety::Backoff(30ms, 60ms)});
  const auto end = safety::Deadline::after(200ms);
  while (!end.has_passed()) {
    EXPECT_THROW(static_cast<void>(pool.acquire(end)), pgqueue::Error);
  }
  EXPECT_LE(pool.stats().connect_failures, 8U);
  EXPECT_EQ(pool.stats().in_use, 0U);
}

TEST_F(PoolTest, WorksAgainAfterTheServerRestarted) {
  PgServer own;
  Pool pool({.conninfo = own.conninfo()});
  { const auto lease = pool.acquire(soon()); }
  own.stop();
  EXPECT_THROW(static_cast<void>(pool.acquire(safety::Deadline::after(100ms))), pgqueue::Error);
  own.start();
  const auto lease = pool.acquire(soon());
  EXPECT_TRUE(lease->is_usable());
}

}  // namespace han::tests
