// The server's clock is wrong by an hour, or jumps by one: leases are judged by it alone, so a jump
// may end them early or late, and never lets a task be finished twice.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/pgqueue/faults/fault_fixture.h"

namespace han::tests {
namespace {

std::string faketime_library() {
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib")) {
    const auto path = entry.path() / "faketime" / "libfaketimeMT.so.1";
    if (std::filesystem::exists(path)) return path;
  }
  throw std::runtime_error("libfaketime is missing: apt-get install faketime");
}

}  // namespace

class ServerClock : public FaultFixture {
 protected:
  void SetUp() override {
    set("+0");
    use(skewed());
  }
  static PgServer& skewed() {
    static PgServer server({.arguments = kQuickServer,
                            .env = {"LD_PRELOAD=" + faketime_library(),
                                    "FAKETIME_TIMESTAMP_FILE=" + dir().file("clock"),
                                    "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"}});
    return server;
  }
  static TempDir& dir() {
    static TempDir dir;
    return dir;
  }
  // The file is replaced at once, so that no process reads half of it.
  static void set(const std::string& offset) {
    const std::string fresh = dir().file("fresh");
    std::ofstream(fresh) << offset << "\n";
    ::chmod(fresh.c_str(), 0644);
    std::filesystem::rename(fresh, dir().file("clock"));
  }
  // Of the server's clock to ours, in minutes.
  long offset() const {
    return std::stol(value("SELECT round((extract(epoch FROM clock_timestamp()) - " +
                           std::to_string(std::time(nullptr)) + ") / 60)"));
  }
};

TEST_F(ServerClock, R23_AnHourAwayFromOursChangesNothing) {
  for (const char* hours : {"+3600", "-3600"}) {
    use(skewed());
    set(hours);
    ASSERT_EQ(offset(), hours[0] == '+' ? 60 : -60);
    constexpr std::size_t kTasks = 200;
    submit(kTasks);
    Crew crew({.conninfo = conninfo_, .queue = proven(30s)});
    ASSERT_TRUE(await_drained());
    crew.stop();
    expect_each_once(kTasks, crew.tally());
    EXPECT_EQ(crew.tally().runs, kTasks) << "a lease ended early";
    EXPECT_EQ(crew.tally().errors_total(), 0U) << crew.tally().last_error;
  }
}

TEST_F(ServerClock, R23_JumpsOfAnHourUnderLoadNothingIsLostOrFinishedTwice) {
  constexpr std::size_t kTasks = 2000;
  submit(kTasks);
  Crew crew({.conninfo = conninfo_, .queue = proven(30s)});
  std::size_t finished = 100;
  // Forward, all leases are over at once; back, those of the future stand for an hour more.
  for (const char* jump : {"+3600", "+0", "-3600", "+0", "+3600"}) {
    ASSERT_TRUE(await_finished(crew, finished));
    set(jump);
    finished += 300;
  }
  ASSERT_TRUE(await_drained());
  crew.stop();
  expect_each_once(kTasks, crew.tally());
}

TEST_F(ServerClock, R23_AJumpForwardFencesTheHoldersWhoseLeasesItEnds) {
  submit(1);
  pgqueue::Pool pool({.conninfo = conninfo_});
  pgqueue::Queue queue(pool, proven(30s));
  pgqueue::IndexCursor cursor;
  const auto tasks = queue.claim(cursor, 1, pgqueue::Uuid::random(), soon());
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(queue.rescue({}, 10, soon()).changed, 0);
  set("+3600");
  EXPECT_EQ(queue.heartbeat({&tasks[0].lease, 1}, soon())[0], pgqueue::HeartbeatOutcome::kExpired);
  EXPECT_EQ(queue.rescue({}, 10, soon()).changed, 1);
  pgqueue::Completion completion;
  completion.lease = tasks[0].lease;
  completion.outcome = pgqueue::Outcome{.decision = "allow"};
  EXPECT_EQ(queue.complete({&completion, 1}, nullptr, soon())[0],
            pgqueue::CompletionOutcome::kLeaseLost);
}

}  // namespace han::tests
