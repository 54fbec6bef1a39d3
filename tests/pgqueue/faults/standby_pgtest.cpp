// Fail-over: the primary dies, and what answers is a standby that takes no writes yet.
#include "pgqueue/error.h"
#include "tests/pgqueue/faults/fault_fixture.h"
#include "tests/support/pg_bouncer.h"

namespace han::tests {

// Replication is synchronous: what was acknowledged is on the standby too. With asynchronous
// replication the last commits before the crash can be lost, by PostgreSQL's own definition.
class FailOver : public FaultFixture {
 protected:
  void SetUp() override {
    use(primary_);
    standby_ = std::make_unique<PgServer>(PgServer::StandbyOf{primary_},
                                          PgServerOptions{.arguments = kQuickServer});
    pg_execute(primary_.conninfo(), "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    pg_value(primary_.conninfo(), "SELECT pg_reload_conf()");
    ASSERT_TRUE(await([&] {
      return pg_value(primary_.conninfo(), "SELECT sync_state FROM pg_stat_replication") == "sync";
    }));
    database_ = value("SELECT current_database()");
    both_ = "host=" + primary_.dir().path().string() + "," + standby_->dir().path().string() +
            " user=postgres dbname=" + database_;
  }
  std::string on_standby() const { return standby_->conninfo(database_); }

  PgServer primary_{{.arguments = kQuickServer}};
  std::unique_ptr<PgServer> standby_;
  std::string database_;
  std::string both_;  // the connection string that names both servers
};

TEST_F(FailOver, R11_UnderLoadToAStandbyThatIsReadOnlyAtFirst) {
  constexpr std::size_t kTasks = 1500;
  submit(kTasks);
  Crew crew({.conninfo = both_, .queue = proven(2s)});
  ASSERT_TRUE(await_finished(crew, 200));
  primary_.kill();
  // The standby answers, and each worker says what it found there.
  ASSERT_TRUE(await([&] { return crew.tally().errors_of("25006") >= 8; }));
  EXPECT_NE(crew.tally().last_error.find("the server is read-only"), std::string::npos)
      << crew.tally().last_error;
  const auto tried = crew.tally().errors_total();
  EXPECT_TRUE(await([&] { return crew.tally().errors_total() >= tried + 5; }));
  standby_->promote();
  conninfo_ = on_standby();
  ASSERT_TRUE(await_drained());
  crew.stop();
  expect_each_once(kTasks, crew.tally());
}

TEST_F(FailOver, R11_AConnectToAStandbyIsRefusedByNameAndBacksOff) {
  const pgqueue::PoolOptions options{.conninfo = on_standby(),
                                     .backoff = safety::Backoff(40ms, 80ms)};
  pgqueue::Pool pool(options);
  const auto end = safety::Deadline::after(500ms);
  std::size_t refused = 0;
  while (!end.has_passed()) {
    try {
      static_cast<void>(pool.acquire(end));
      FAIL() << "took a standby for a primary";
    } catch (const pgqueue::Error& error) {
      EXPECT_TRUE(error.is_retryable());
      if (error.is_read_only()) ++refused;
    }
  }
  EXPECT_GE(refused, 1U);
  EXPECT_LE(pool.stats().connect_failures, 14U);
}

// Whoever asks for no writable server, or reaches one through a pooler that moved, learns of it from
// the first write: that connection is not used again.
TEST_F(FailOver, R11_AConnectionThatTurnsOutToBeReadOnlyIsDropped) {
  pgqueue::Pool pool({.conninfo = on_standby() + " target_session_attrs=any",
                      .backoff = safety::Backoff(40ms, 80ms)});
  pgqueue::Queue queue(pool, {});
  submit(1);
  std::size_t refused = 0;
  const auto end = safety::Deadline::after(500ms);
  while (!end.has_passed()) {
    try {
      pgqueue::IndexCursor cursor;
      queue.claim(cursor, 1, pgqueue::Uuid::random(), end);
    } catch (const pgqueue::Error& error) {
      EXPECT_TRUE(error.is_retryable());
      if (!error.is_read_only()) continue;
      ++refused;
      EXPECT_STREQ(error.what(), "claim: the server is read-only (SQLSTATE 25006)");
      EXPECT_EQ(pool.stats().idle, 0U);
    }
  }
  EXPECT_GE(refused, 1U);
  EXPECT_LE(pool.stats().connects, 14U) << "the standby is stormed";
  primary_.kill();
  standby_->promote();
  pgqueue::IndexCursor cursor;
  EXPECT_EQ(queue.claim(cursor, 1, pgqueue::Uuid::random(), soon()).size(), 1U);
}

TEST_F(FailOver, R11_AStandbyBehindAPoolerIsToldToo) {
  const PgBouncer pooler(*standby_);
  try {
    const pgqueue::Connection connection(pooler.through(on_standby()), soon());
    FAIL() << "took a standby for a primary";
  } catch (const pgqueue::Error& error) {
    EXPECT_TRUE(error.is_read_only()) << error.what();
  }
}

}  // namespace han::tests
