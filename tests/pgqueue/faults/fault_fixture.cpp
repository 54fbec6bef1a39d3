#include "tests/pgqueue/faults/fault_fixture.h"

#include <algorithm>
#include <random>

#include "pgqueue/error.h"

namespace han::tests {
namespace {

constexpr std::size_t kSubmitBatch = 2000;

}  // namespace

PgServer& FaultFixture::server() {
  static PgServer server({.arguments = kQuickServer});
  return server;
}

pgqueue::QueueOptions FaultFixture::proven(std::chrono::milliseconds lease) const {
  return {.lease_duration = lease,
          .retry = {.attempts_max = 1'000'000},
          .completion_log = pgqueue::sql::CompletionLog::kOn,
          .crashes_max = 10'000,
          .payload_ban = 0ms};
}

void FaultFixture::submit(std::size_t count, std::size_t bytes) {
  pgqueue::Pool pool({.conninfo = conninfo_});
  pgqueue::Queue queue(pool, {});
  std::mt19937_64 random(count);
  while (count > 0) {
    std::vector<pgqueue::NewTask> tasks(std::min(count, kSubmitBatch));
    for (pgqueue::NewTask& task : tasks) {
      task.kind = "text";
      // Bytes that no compression makes less of.
      while (task.payload.size() < bytes) task.payload.push_back(static_cast<char>(random()));
    }
    queue.submit("safetyctl", tasks, soon());
    count -= tasks.size();
  }
}

bool FaultFixture::await_finished(const Crew& crew, std::size_t count) {
  return await([&] { return crew.tally().finished >= count; }, kDrainLimit);
}

bool FaultFixture::await_drained() const {
  return await(
      [&] {
        try {
          return value("SELECT count(*) FROM message_safety.safety_tasks") == "0";
        } catch (const pgqueue::Error&) {
          return false;
        }
      },
      kDrainLimit);
}

void FaultFixture::expect_each_once(std::size_t count, const CrewTally& tally) const {
  const std::string all = std::to_string(count);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "0") << "not finished";
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results WHERE state = 'done'"), all);
  EXPECT_EQ(value("SELECT count(DISTINCT task_id) FROM message_safety.results"), all) << "lost";
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.completion_log"), all) << "finished twice";
  EXPECT_EQ(value("SELECT count(DISTINCT task_id) FROM message_safety.completion_log"), all);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.completion_log "
                  "WHERE generation_presented <> generation_on_row"),
            "0");
  EXPECT_EQ(tally.finished_again, 0U);
  EXPECT_EQ(tally.surfaced, 0U) << tally.last_error;
}

}  // namespace han::tests
