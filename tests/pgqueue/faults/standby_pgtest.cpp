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

// Whoever looks for a writable server is told that there is none, and does not storm the standby.
TEST_F(FailOver, R11_AStandbyIsRefusedByNameBackedOffFromAndUsedOncePromoted) {
  submit(1);
  const auto claim = [](pgqueue::Queue& queue, safety::Deadline deadline) {
    pgqueue::IndexCursor cursor;
    return queue.claim(cursor, 1, pgqueue::Uuid::random(), deadline).size();
  };
  // For half a second, and until it was refused; every error that is not a wait's own must name the
  // read-only server.
  const auto count_refused = [&](pgqueue::Queue& queue, const std::string& what) {
    std::size_t refused = 0;
    const auto enough = safety::Deadline::after(500ms);
    const auto end = soon();
    while (!end.has_passed() && (refused == 0 || !enough.has_passed())) {
      try {
        claim(queue, safety::Deadline::after(5s));
        ADD_FAILURE() << "took a standby for a primary";
      } catch (const pgqueue::Error& error) {
        EXPECT_TRUE(error.is_retryable());
        if (!error.is_read_only()) continue;
        ++refused;
        EXPECT_TRUE(std::string(error.what()).starts_with(what)) << error.what();
      }
    }
    return refused;
  };
  const safety::Backoff backoff(40ms, 80ms);
  const auto began = std::chrono::steady_clock::now();
  const auto tries_max = [&] {
    return 2 + static_cast<std::uint64_t>((std::chrono::steady_clock::now() - began) / 40ms);
  };

  pgqueue::Pool choosing({.conninfo = on_standby(), .backoff = backoff});
  pgqueue::Queue choosing_queue(choosing, {});
  EXPECT_GE(count_refused(choosing_queue, "connect: the server is read-only: "), 1U);
  EXPECT_LE(choosing.stats().connect_failures, tries_max());

  // One that does not choose, or whose pooler has moved, learns of it from its first write, and
  // leaves the connection.
  pgqueue::Pool any({.conninfo = on_standby() + " target_session_attrs=any", .backoff = backoff});
  pgqueue::Queue any_queue(any, {});
  const auto refused = count_refused(any_queue, "claim: the server is read-only (SQLSTATE 25006)");
  EXPECT_GE(refused, 1U);
  EXPECT_GE(any.stats().connects, refused) << "a connection to the standby was used again";
  EXPECT_LE(any.stats().connects, tries_max()) << "the standby is stormed";

  const PgBouncer pooler(*standby_);
  pgqueue::Pool pooled({.conninfo = pooler.through(on_standby()), .backoff = backoff});
  pgqueue::Queue pooled_queue(pooled, {});
  EXPECT_GE(count_refused(pooled_queue, "connect: the server is read-only: "), 1U);

  primary_.kill();
  standby_->promote();
  conninfo_ = on_standby();
  submit(2);
  EXPECT_EQ(claim(choosing_queue, soon()), 1U);
  EXPECT_EQ(claim(any_queue, soon()), 1U);
  EXPECT_EQ(claim(pooled_queue, soon()), 1U);
}

}  // namespace han::tests
