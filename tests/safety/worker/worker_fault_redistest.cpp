// What may happen to Redis under a worker (SPEC section 14): all tasks end, once, with the verdict
// that they would have without it. Covers 000-S08, 000-D08, 000-D11, 000-X07, 000-X13.
#include <atomic>
#include <thread>

#include "cache/key.h"
#include "tests/safety/worker/redis_trouble_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

class WorkerFaultTest : public RedisTroubleFixture {
 protected:
  void run_through_gate(GateSetting setting) {
    run_through([&] { gate_.set(std::move(setting)); }, [&] { gate_.set(GateMode::kPass); });
  }
  bool names(safety::Worker& worker, const std::string& trouble) {
    return await([&] {
      const std::string text = worker.readiness().text;
      const auto line = text.find("redis troubles: ");
      const auto end = text.find('\n', line);
      return text.substr(line, end - line).find(trouble) != std::string::npos;
    });
  }
};

TEST_F(WorkerFaultTest, Killed) {
  run_through([&] { redis_.kill(); }, [&] { redis_.start(); });
}

// Its scripts and keys are gone.
TEST_F(WorkerFaultTest, B10_Restarted) {
  const auto worker = start();
  submit(texts("before", 100));
  EXPECT_TRUE(await_drained());
  redis_.restart();
  submit(texts("after", 100));
  EXPECT_TRUE(await_drained());
  EXPECT_TRUE(redis_is_used_again());
  expect_right();
}

TEST_F(WorkerFaultTest, Flushed) {
  const auto worker = start();
  submit(texts("warm", 100));
  EXPECT_TRUE(await_drained());
  redis_.ask({"FLUSHALL"});
  submit(texts("warm", 100));
  submit(texts("cold", 100));
  EXPECT_TRUE(await_drained());
  EXPECT_TRUE(redis_is_used_again());
  expect_right();
}

TEST_F(WorkerFaultTest, B06_Stopped) {
  run_through([&] { redis_.pause(); }, [&] { redis_.resume(); });
}

TEST_F(WorkerFaultTest, LateByMoreThanItsTimeout) {
  run_through_gate({.mode = GateMode::kDelay, .delay_min = 200ms, .delay_max = 200ms});
}

TEST_F(WorkerFaultTest, B02_LateByMoreOrLessThanItsTimeout) {
  run_through_gate({.mode = GateMode::kDelay, .delay_min = 0ms, .delay_max = 100ms});
}

TEST_F(WorkerFaultTest, B06_HalfOpen) { run_through_gate({.mode = GateMode::kHold}); }

TEST_F(WorkerFaultTest, OneByteAtATime) {
  run_through_gate({.mode = GateMode::kDrip, .delay_max = 1ms});
}

TEST_F(WorkerFaultTest, Garbage) {
  run_through_gate(
      {.mode = GateMode::kGarbage, .garbage = std::string("\0\xff?\r\n+OK\r\n$-9", 14)});
}

TEST_F(WorkerFaultTest, B34_HugeReplies) {
  run_through_gate({.mode = GateMode::kGarbage, .garbage = "$1073741824\r\n"});
}

TEST_F(WorkerFaultTest, CutInTheMiddleOfAReply) {
  run_through_gate({.mode = GateMode::kCut, .cut_bytes = 7});
}

TEST_F(WorkerFaultTest, B08_EveryConnectionIsReset) {
  run_through_gate({.mode = GateMode::kReset});
}

TEST_F(WorkerFaultTest, WrongTypesAtItsKeys) {
  run(texts("warm", 60));
  const auto own = keys();
  ASSERT_GT(own.size(), 40U);
  for (const std::string& key : own) {
    redis_.ask({"DEL", key});
    redis_.ask({"RPUSH", key, "not", "a", "string"});
    redis_.ask({"EXPIRE", key, "100"});
  }
  const auto are_strings = [&] {
    return std::all_of(own.begin(), own.end(), [&](const std::string& key) {
      return redis_.ask({"TYPE", key}) == "string";
    });
  };
  // On a busy machine a Redis may seem slow, and then texts are judged without looking into it.
  constexpr int kRunsMax = 20;
  for (int i = 0; i < kRunsMax && !are_strings(); ++i) run(texts("warm", 60));
  expect_right();
  EXPECT_EQ(keys(), own);
  EXPECT_TRUE(are_strings());
}

TEST_F(WorkerFaultTest, Full) {
  const auto worker = start();
  submit(texts("before", 100));
  EXPECT_TRUE(await_drained());
  redis_.ask({"CONFIG", "SET", "maxmemory", "1"});
  submit(texts("during", 100));
  submit(texts("before", 100));
  EXPECT_TRUE(await_drained());
  EXPECT_TRUE(names(*worker, "oom"));
  EXPECT_TRUE(worker->readiness().is_ready);
  redis_.ask({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(redis_is_used_again());
  expect_right();
}

TEST_F(WorkerFaultTest, MadeAReplica) {
  RedisServer primary;
  const auto worker = start();
  submit(texts("before", 100));
  EXPECT_TRUE(await_drained());
  redis_.ask({"REPLICAOF", "127.0.0.1", std::to_string(primary.port())});
  submit(texts("during", 100));
  EXPECT_TRUE(await_drained());
  EXPECT_TRUE(names(*worker, "readonly"));
  redis_.ask({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(redis_is_used_again());
  expect_right();
}

TEST_F(WorkerFaultTest, Loading) {
  const auto worker = start();
  submit(texts("before", 100));
  EXPECT_TRUE(await_drained());
  // A slow start: 20 ms a key.
  redis_.ask({"SAVE"});
  redis_.add_argument("--key-load-delay");
  redis_.add_argument("20000");
  redis_.add_argument("--loading-process-events-interval-bytes");
  redis_.add_argument("1024");
  redis_.kill();
  // The server ends with the thread that has started it.
  std::atomic<bool> is_over{false};
  const std::jthread server([&] {
    redis_.start();
    is_over.wait(false);
  });
  submit(texts("during", 100));
  EXPECT_TRUE(await_drained());
  EXPECT_TRUE(names(*worker, "loading"));
  EXPECT_TRUE(await([&] { return redis_.ask({"DBSIZE"})[0] != '-'; }));
  EXPECT_TRUE(redis_is_used_again());
  expect_right();
  is_over = true;
  is_over.notify_all();
}

TEST_F(WorkerFaultTest, B25_RightsTakenInTheMiddle) {
  const auto worker = start();
  submit(texts("before", 100));
  EXPECT_TRUE(await_drained());
  redis_.ask({"ACL", "SETUSER", "message_safety", "-get", "-mget", "-set"});
  submit(texts("during", 100));
  EXPECT_TRUE(await_drained());
  EXPECT_TRUE(names(*worker, "noperm"));
  EXPECT_TRUE(worker->readiness().is_ready);
  redis_.ask({"ACL", "SETUSER", "message_safety", "+get", "+mget", "+set"});
  EXPECT_TRUE(redis_is_used_again());
  expect_right();
}

TEST_F(WorkerFaultTest, B24_TheSubscribersBufferIsCut) {
  const auto worker = start();
  const auto subscribes = [&](int count) {
    return await([&] {
      return worker->metrics_text().find("han_safety_wakeup{kind=\"subscribes\"} " +
                                         std::to_string(count) + "\n") != std::string::npos;
    });
  };
  EXPECT_TRUE(subscribes(1));
  redis_.ask({"CONFIG", "SET", "client-output-buffer-limit", "pubsub 64kb 0 0"});
  submit(texts("during", 100));
  redis_.ask({"PUBLISH", std::string(cache::WakeupChannel::kName), std::string(4'000'000, '1')});
  submit(texts("after", 100));
  EXPECT_TRUE(await_drained());
  EXPECT_TRUE(subscribes(2));
  expect_right();
}

// covers 000-S05
TEST_F(WorkerFaultTest, B27_TheUsersAreLoadedAnewAllTheTime) {
  const auto worker = start();
  submit(texts("during", 400));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(redis_.ask({"ACL", "LOAD"}), "OK");
    redis_.ask({"CLIENT", "KILL", "USER", "message_safety"});
  }
  EXPECT_TRUE(await_drained());
  EXPECT_TRUE(redis_is_used_again());
  expect_right();
}

}  // namespace han::tests
