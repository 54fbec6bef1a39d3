// RedisTroubleFixture: a worker whose Redis is behind a gate, and the verdicts that an offline
// engine gives to everything that was submitted.
//
// Threads: one thread at a time. Owns: what WorkerFixture owns, and the gate.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "safety/config.h"
#include "safety/text/text_engine.h"
#include "safety/worker/worker.h"
#include "tests/safety/worker/worker_fixture.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {

class RedisTroubleFixture : public WorkerFixture {
 protected:
  void SetUp() override;

  // A worker that is connected to Redis; small batches, so that a fault meets many of them.
  std::unique_ptr<safety::Worker> start(const std::string& more_settings = "");
  // Texts of all decisions, with equal ones among them, that only calls with this label make.
  static std::vector<std::string> texts(const std::string& label, int count);
  void submit(const std::vector<std::string>& texts);
  // Lets a fresh worker finish the texts.
  void run(const std::vector<std::string>& texts);
  // Before, during and after a fault: submits texts and expects each to get its verdict, once.
  void run_through(const std::function<void()>& fault, const std::function<void()>& mend);
  // Each task that was submitted is finished, once, with the verdict of the offline engine.
  void expect_right();
  long results();
  // Keys of Redis, sorted; without those of rate limits, which the self-test uses.
  std::vector<std::string> keys();
  // Until what is submitted now is written to Redis.
  [[nodiscard]] bool redis_is_used_again();

  TcpGate gate_{redis_.port()};

 private:
  std::string offline(const std::string& text);

  std::shared_ptr<const safety::TextEngine> engine_;
  std::unique_ptr<safety::TextScratch> scratch_;
  safety::Config config_;
  std::map<std::string, std::string> expected_;  // by task id
  int asked_again_ = 0;
};

}  // namespace han::tests
