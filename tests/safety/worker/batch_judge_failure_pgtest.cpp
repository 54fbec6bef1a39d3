// A matching engine that fails: this program has an hs_scan of its own in front of the library's.
#include <atomic>
#include <functional>

#include "pgqueue/transaction.h"
#include "safety/worker/batch_judge.h"
#include "tests/safety/worker/worker_fixture.h"
#include "tests/support/await.h"

namespace {
std::function<void()> on_scan;
}  // namespace

extern "C" int hs_scan(const void*, const char*, unsigned, unsigned, void*,
                       int (*)(unsigned, unsigned long long, unsigned long long, unsigned, void*),
                       void*) {
  if (on_scan) on_scan();
  constexpr int kUnknownError = -13;
  return kUnknownError;
}

namespace han::tests {

class EngineDown : public WorkerFixture {};

// invariant I4
TEST_F(EngineDown, ATextIsRetriedAndThenADeadLetterAndNeverAllowed) {
  const auto worker = make_worker("attempts_max: 2\n");
  worker->start();
  const auto ids = submit_texts({"good morning"});
  EXPECT_TRUE(await([&] {
    return value("SELECT last_failure FROM message_safety.safety_tasks WHERE parked") == "engine";
  }));
  // The first retry is not due yet: let it be.
  execute("UPDATE message_safety.safety_tasks SET run_at = clock_timestamp()");
  EXPECT_TRUE(await_drained());
  EXPECT_EQ(decision_of(ids[0]), "indeterminate engine");
  EXPECT_EQ(value("SELECT state || ' ' || disposition || ' ' || attempt "
                  "FROM message_safety.results"),
            "dead hold 2");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.verdicts"), "0");
  EXPECT_EQ(redis_.ask({"DBSIZE"}), "0");
}

// Else its lease runs out, and a failure of the engine looks like a crash of the process (R13).
TEST_F(EngineDown, R13_AFailureWhoseRowIsLockedIsNoCrash) {
  pgqueue::Connection connection(conninfo_, soon());
  pgqueue::Transaction other(connection);
  std::atomic<bool> is_locked{false};
  on_scan = [&] {
    if (is_locked) return;
    other.execute({"lock", "SELECT id FROM message_safety.safety_tasks FOR UPDATE", {}}, soon());
    is_locked = true;
  };
  {
    const auto worker = make_worker();
    worker->start();
    submit_texts({"good morning"});
    EXPECT_TRUE(await([&] { return is_locked.load(); }));
    execute("SELECT pg_sleep(0.3)");  // the attempt is given back meanwhile, in vain
    other.commit(soon());
    EXPECT_TRUE(await([&] {
      return value("SELECT count(*) FROM message_safety.safety_tasks WHERE state = 'queued'") ==
             "1";
    }));
    worker->stop();
  }
  on_scan = nullptr;
  EXPECT_EQ(value("SELECT last_failure || ' ' || suspect FROM message_safety.safety_tasks"),
            "engine false");
}

}  // namespace han::tests
