#include "safety/worker/redis_report.h"

#include <gtest/gtest.h>

#include <map>

namespace han::tests {
namespace {

using namespace cache;
using safety::RedisSigns;

RedisSigns healthy() {
  RedisSigns signs;
  signs.pool.idle = 2;
  signs.pool.breaker = Breaker::State::kClosed;
  signs.wakeup.state = WakeupState::kUp;
  signs.findings = {.rounds = 1, .is_good = true, .bad = ""};
  return signs;
}

std::map<std::string, double> figures_of(const RedisSigns& signs) {
  std::map<std::string, double> figures;
  safety::set_redis_figures(signs,
                            [&](std::string_view name, std::string_view label, double value) {
                              figures[std::string(name) + " " + std::string(label)] = value;
                            });
  return figures;
}

// covers 000-D01, 000-D02
TEST(RedisReport, AHealthyOneIsUp) {
  EXPECT_TRUE(safety::is_up(healthy()));
  EXPECT_EQ(safety::redis_report(healthy()),
            "redis: up\nredis breaker: closed\nredis troubles: none\nredis wake-up: up\n"
            "redis scripts: good\nredis look-ups: pay\n");
  EXPECT_EQ(figures_of(healthy())["redis_degraded "], 0);
}

// covers 000-D08
TEST(RedisReport, EachTroubleDegradesAndIsNamed) {
  const std::map<std::string, void (*)(RedisSigns&)> troubles = {
      {"redis breaker: open\n", [](RedisSigns& s) { s.pool.breaker = Breaker::State::kOpen; }},
      {"redis breaker: half-open\n",
       [](RedisSigns& s) { s.pool.breaker = Breaker::State::kHalfOpen; }},
      {"redis troubles: not connected\n", [](RedisSigns& s) { s.pool.idle = 0; }},
      {"redis troubles: timeout oom\n",
       [](RedisSigns& s) {
         s.troubles = {{"timeout", 3, true}, {"oom", 1, true}};
       }},
      {"redis wake-up: refused noperm\n",
       [](RedisSigns& s) {
         s.wakeup.state = WakeupState::kRefused;
         s.wakeup.failures = 1;
         s.wakeup.last_trouble = Trouble::kRejected;
         s.wakeup.last_error = ErrorClass::kNoperm;
       }},
      {"redis wake-up: down closed\n",
       [](RedisSigns& s) {
         s.wakeup.state = WakeupState::kDown;
         s.wakeup.failures = 1;
         s.wakeup.last_trouble = Trouble::kClosed;
       }},
      {"redis scripts: self_test script_denied\n",
       [](RedisSigns& s) {
         s.findings = {2, false, "self_test script_denied"};
       }},
      {"redis look-ups: skipped, too slow\n", [](RedisSigns& s) { s.budget.is_skipping = true; }},
  };
  for (const auto& [text, make] : troubles) {
    RedisSigns signs = healthy();
    make(signs);
    const std::string report = safety::redis_report(signs);
    EXPECT_EQ(report.rfind("redis: degraded\n", 0), 0U) << text;
    EXPECT_NE(report.find(text), std::string::npos) << report;
    EXPECT_EQ(figures_of(signs)["redis_degraded "], 1) << text;
  }
}

TEST(RedisReport, ATroubleOfThePastIsCountedOnly) {
  RedisSigns signs = healthy();
  signs.troubles = {{"loading", 5, false}};
  EXPECT_TRUE(safety::is_up(signs));
  auto figures = figures_of(signs);
  EXPECT_EQ(figures["redis_troubles loading"], 5);
  EXPECT_EQ(figures["redis_trouble_present loading"], 0);
}

TEST(RedisReport, LookUpsThatAreSkippedAreATroubleByName) {
  EXPECT_EQ(figures_of(healthy()).at("redis_trouble_present slow"), 0);
  RedisSigns signs = healthy();
  signs.budget.is_skipping = true;
  EXPECT_EQ(figures_of(signs).at("redis_trouble_present slow"), 1);
  EXPECT_NE(safety::redis_report(signs).find("redis troubles: slow\n"), std::string::npos);
  signs.troubles = {{"timeout", 1, true}};
  EXPECT_NE(safety::redis_report(signs).find("redis troubles: timeout slow\n"), std::string::npos);
}

TEST(RedisReport, TheChannelsStateIsOneOfThree) {
  RedisSigns signs = healthy();
  signs.wakeup.state = WakeupState::kRefused;
  auto figures = figures_of(signs);
  EXPECT_EQ(figures["wakeup_channel up"], 0);
  EXPECT_EQ(figures["wakeup_channel down"], 0);
  EXPECT_EQ(figures["wakeup_channel refused"], 1);
}

}  // namespace
}  // namespace han::tests
