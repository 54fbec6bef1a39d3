// A text that kills the process which judges it (R13): a worker that is built to abort on one.
#include "tests/safety/worker/worker_fixture.h"
#include "tests/support/await.h"
#include "tests/support/built_binary.h"
#include "tests/support/process.h"

namespace han::tests {

class WorkerCrashTest : public WorkerFixture {
 protected:
  static constexpr const char* kPoison = "SAFETY_TEST_CRASH";

  void SetUp() override {
    WorkerFixture::SetUp();
    redis_url_.clear();
    settings(
        "threads: 2\nclaim: {batch: 20, poll_ms: 20, sweep_ms: 20}\n"
        "lease: {duration_ms: 60000, heartbeat_ms: 100}\n");
  }
  // Starts workers, one after the other, until `is_done`; returns how many crashed.
  template <typename Condition>
  int run_workers(Condition is_done) {
    int crashes = 0;
    for (int starts = 0; starts < 20; ++starts) {
      Process worker({.argv = {built_binary("safety-worker-crashing"), "--settings",
                               dir_.file("settings.yaml")},
                      .env = {"MESSAGE_SAFETY_DATABASE_URL=" + conninfo_,
                              "MESSAGE_SAFETY_PEPPER_FILE=" + dir_.file("pepper")},
                      .output_path = dir_.file("worker.log")});
      EXPECT_TRUE(await([&] { return is_done() || !worker.is_running(); }));
      if (worker.is_running()) {
        EXPECT_EQ(worker.stop().code, 0) << worker.output();
        return crashes;
      }
      ++crashes;
      expire_leases();
    }
    return crashes;
  }
  std::string finished() { return value("SELECT count(*) FROM message_safety.results"); }
};

TEST_F(WorkerCrashTest, R13_ATaskThatKillsItsProcessIsADeadLetterAndTheOthersComplete) {
  std::vector<std::string> texts;
  for (int i = 0; i < 40; ++i) texts.push_back("casino " + std::to_string(i));
  texts.insert(texts.begin() + 10, kPoison);
  const auto ids = submit_texts(texts);
  // Once with others, uncharged, and twice alone.
  EXPECT_EQ(run_workers([&] { return finished() == "41"; }), 3);
  EXPECT_EQ(value("SELECT state || ' ' || decision || ' ' || disposition || ' ' || reason || ' ' "
                  "|| crashes FROM message_safety.results WHERE task_id = '" +
                  ids[10].to_string() + "'"),
            "dead indeterminate hold crashed 2");
  EXPECT_EQ(value("SELECT string_agg(DISTINCT state || ' ' || decision || ' ' || attempt || ' ' "
                  "|| crashes, ', ') FROM message_safety.results WHERE task_id <> '" +
                  ids[10].to_string() + "'"),
            "done monitor 1 0");

  // The same payload is refused for a while: its task is born finished, and harms nobody.
  const std::vector<pgqueue::NewTask> again = {text_task(kPoison), text_task("casino")};
  const auto submitted = queue_->submit("safetyctl", again, soon()).submissions;
  EXPECT_EQ(submitted[0].outcome, pgqueue::SubmitOutcome::kQuarantined);
  EXPECT_EQ(run_workers([&] { return finished() == "43"; }), 0);
  EXPECT_EQ(decision_of(submitted[0].task_id), "indeterminate quarantined");
  EXPECT_EQ(decision_of(submitted[1].task_id), "monitor rule");
}

TEST_F(WorkerCrashTest, R13_OtherTasksAreJudgedWhileASuspectWaits) {
  const auto ids = submit_texts({kPoison, "a casino", "another casino"});
  const auto done = [&] {
    return value("SELECT count(*) FROM message_safety.results WHERE state = 'done'");
  };
  EXPECT_LE(run_workers([&] { return done() == "2"; }), 3);
  EXPECT_EQ(decision_of(ids[1]), "monitor rule");
  EXPECT_EQ(decision_of(ids[2]), "monitor rule");
}

}  // namespace han::tests
