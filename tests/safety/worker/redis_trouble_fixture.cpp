#include "tests/safety/worker/redis_trouble_fixture.h"

#include <algorithm>
#include <sstream>

#include "safety/bundle.h"
#include "safety/policy.h"
#include "safety/text/utf8.h"
#include "tests/support/await.h"

namespace han::tests {
namespace {

constexpr std::chrono::sys_days kToday = std::chrono::year{2026} / 1 / 1;
constexpr const char* kSettings =
    "completion_log: true\n"
    "claim: {batch: 20, batch_min: 20, poll_ms: 50, sweep_ms: 50}\n";

}  // namespace

void RedisTroubleFixture::SetUp() {
  WorkerFixture::SetUp();
  redis_url_ = redis_.url_at(gate_.port());
  engine_ = safety::Bundle::load(dir_.file("rules.yaml"), kToday)->text_engine();
  scratch_ = std::make_unique<safety::TextScratch>(*engine_);
  config_ = safety::load_config(dir_.file("config.yaml"));
}

std::unique_ptr<safety::Worker> RedisTroubleFixture::start(const std::string& more_settings) {
  const bool is_timed = more_settings.find("redis_timeout_ms") != std::string::npos;
  auto worker = make_worker(kSettings + more_settings + (is_timed ? "" : "redis_timeout_ms: 50\n"));
  worker->start();
  // Both judging threads, the writer and the watch have theirs.
  EXPECT_TRUE(await([&] {
    const std::string text = worker->metrics_text();
    const std::string name = "\nhan_safety_redis_connects ";
    const auto at = text.find(name);
    return at != std::string::npos && std::stod(text.substr(at + name.size())) >= 4;
  }));
  return worker;
}

std::vector<std::string> RedisTroubleFixture::texts(const std::string& label, int count) {
  const std::vector<std::string> kinds = {"Send the GIFT card code", "a casino", "good morning",
                                          "shadowed"};
  std::vector<std::string> made;
  for (int i = 0; i < count; ++i) {
    // Each eighth is equal to the one four before.
    const int number = i % 8 == 7 ? i - 4 : i;
    made.push_back(kinds[static_cast<std::size_t>(number) % kinds.size()] + " " + label + " " +
                   std::to_string(number));
  }
  return made;
}

std::string RedisTroubleFixture::offline(const std::string& text) {
  std::string buffer;
  const auto evidence = engine_->scan(safety::repair_utf8(text, buffer), *scratch_);
  return std::string(to_string(safety::decide_text(evidence, engine_->rules(), config_).decision));
}

void RedisTroubleFixture::submit(const std::vector<std::string>& texts) {
  const auto ids = submit_texts(texts);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    expected_[ids[i].to_string()] = offline(texts[i]);
  }
}

void RedisTroubleFixture::run(const std::vector<std::string>& texts) {
  const auto worker = start("redis_timeout_ms: 5000\n");
  submit(texts);
  EXPECT_TRUE(await_drained());
  worker->stop();
}

long RedisTroubleFixture::results() {
  return std::stol(value("SELECT count(*) FROM message_safety.results"));
}

void RedisTroubleFixture::run_through(const std::function<void()>& fault,
                                      const std::function<void()>& mend) {
  const auto worker = start();
  submit(texts("before", 200));
  EXPECT_TRUE(await([&] { return results() >= 40; }));
  fault();
  submit(texts("during", 300));
  EXPECT_TRUE(await_drained());
  mend();
  submit(texts("after", 50));
  EXPECT_TRUE(await_drained());
  expect_right();
}

void RedisTroubleFixture::expect_right() {
  std::istringstream rows(
      value("SELECT string_agg(task_id || ' ' || decision, E'\\n') FROM message_safety.results "
            "WHERE state = 'done'"));
  std::map<std::string, std::string> found;
  std::string id;
  std::string decision;
  while (rows >> id >> decision) EXPECT_TRUE(found.emplace(id, decision).second) << "twice";
  EXPECT_EQ(found, expected_);
  EXPECT_EQ(value("SELECT count(*) || ' ' || count(DISTINCT task_id) "
                  "FROM message_safety.completion_log"),
            std::to_string(expected_.size()) + " " + std::to_string(expected_.size()));
}

std::vector<std::string> RedisTroubleFixture::keys() {
  std::istringstream lines(redis_.ask({"KEYS", "*"}));
  std::vector<std::string> found;
  for (std::string key; std::getline(lines, key);) {
    // The self-test of the scripts has keys for a moment.
    if (!key.empty() && key.find(":rl:") == std::string::npos) found.push_back(key);
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool RedisTroubleFixture::redis_is_used_again() {
  const std::size_t before = keys().size();
  return await([&] {
    submit(texts("again" + std::to_string(++asked_again_), 1));
    return await_drained() && keys().size() > before;
  });
}

}  // namespace han::tests
