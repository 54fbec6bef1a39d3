#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "safety/doctor/key_survey.h"
#include "tests/safety/doctor/doctor_fixture.h"
#include "tests/support/await.h"

namespace han::tests {
namespace {

using safety::Diagnoses;
using safety::DoctorOptions;
using safety::KeySort;
using safety::sort_of_key;
using State = safety::Diagnosis::State;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kHash(64, 'a');
const std::string kVersion(32, 'b');
const std::string kText = "han:safety:text:" + kHash + ":" + kVersion;
const std::string kFile = "han:safety:verdict:" + kHash + ":" + kVersion + ":" + kVersion;
const std::string kDns = "han:safety:dns:" + kHash + ":AAAA";

class KeySurvey : public ::testing::Test {
 protected:
  // Keys that are as they should be.
  void SetUp() override {
    set(kText, "{}", 600);
    set(kFile, "{}", 29 * 86'400);
    set(kDns, "{}", 900);
    set("han:safety:rl:service:chat:29", "1", 60);
  }
  void set(const std::string& key, const std::string& value, int seconds) {
    server().ask({"SET", key, value, "EX", std::to_string(seconds)});
  }
  void TearDown() override { server().ask({"FLUSHALL"}); }
  static RedisServer& server() {
    static RedisServer one(good_redis());
    return one;
  }
  static std::unique_ptr<cache::Connection> connect(const std::string& url) {
    return cache::Connection::open(cache::RedisUrl::parse(url), {},
                                   safety::Deadline::after(kAwaitLimit))
        .connection;
  }
  static Diagnoses survey(const DoctorOptions& options = {}) {
    const auto connection = connect(server().ops_url());
    Diagnoses diagnoses;
    judge_keys(survey_keys(*connection, options), options, diagnoses);
    return diagnoses;
  }
};

TEST(KeySort, TellsOursFromTheirs) {
  EXPECT_EQ(sort_of_key(kText), KeySort::kOurs);
  EXPECT_EQ(sort_of_key(kFile), KeySort::kOurs);
  EXPECT_EQ(sort_of_key(kDns), KeySort::kOurs);
  // A caller may be called what it likes.
  EXPECT_EQ(sort_of_key("han:safety:rl:service:task-queue:1"), KeySort::kOurs);
  for (const char* key :
       {"han:safety:task:1", "safety_task_17", "han:coord:lock:safety-recovery:7",
        "HAN:SAFETY:LEASE", "queue", "bull:jobs:wait", "legacy-stub/1", "han:safety:tasks"}) {
    EXPECT_EQ(sort_of_key(key), KeySort::kState) << key;
  }
  for (const char* key : {"han:safety:", "han:safety:text:x", "han:safety:multitasking"}) {
    EXPECT_EQ(sort_of_key(key), KeySort::kMalformed) << key;
  }
  for (const char* key : {"", "session:1", "han:api:rl:user:1", "HAN:SAFETY:text"}) {
    EXPECT_EQ(sort_of_key(key), KeySort::kForeign) << key;
  }
}

TEST_F(KeySurvey, KeysAsTheyShouldBeAreWell) {
  const Diagnoses diagnoses = survey();
  EXPECT_EQ(others(diagnoses), "");
  EXPECT_EQ(diagnoses.count(State::kOk), 8U);
}

// covers 000-K07 000-V07 000-X09
TEST_F(KeySurvey, FindsAKeyWithoutTtl) {
  server().ask({"PERSIST", kText});
  expect_only_finding(survey(), "redis.keys.ttl", "1 of 4 keys have no time to live");
  EXPECT_THAT(diagnosis(survey(), "redis.keys.ttl").fix, HasSubstr("leaves all others"));
}

// covers 000-X07
TEST_F(KeySurvey, FindsAKeyThatLivesTooLong) {
  set(kDns, "{}", 901);
  expect_only_finding(survey(), "redis.keys.ttl_cap", "1 of 4 keys live longer");
  set(kDns, "{}", 900);
  set(kText, "{}", 2 * 86'400 + 10);
  expect_only_finding(survey(), "redis.keys.ttl_cap", "1 of 4 keys live longer");
}

TEST_F(KeySurvey, FindsAForeignKeyAndDoesNotShowIt) {
  set("user@example.org", "x", 60);
  set(std::string(200'000, 'k'), "x", 60);  // too long to be read
  const Diagnoses diagnoses = survey();
  expect_only_finding(diagnoses, "redis.keys.foreign", "2 of 6 keys are outside");
  EXPECT_THAT(diagnosis(diagnoses, "redis.keys.foreign").seen, Not(HasSubstr("example")));
}

TEST_F(KeySurvey, FindsAKeyOfNoForm) {
  set("han:safety:text:" + kHash, "x", 60);
  expect_only_finding(survey(), "redis.keys.malformed", "1 of 5 keys");
}

// covers 000-S07 000-T03 000-S09 000-S12 000-D09
TEST_F(KeySurvey, FindsTaskAndLeaseStateWhateverHoldsIt) {
  set("han:safety:lease:1", "x", 60);
  server().ask({"LPUSH", "safety:tasks", "1"});
  server().ask({"EXPIRE", "safety:tasks", "60"});
  set("v1:stub:01a2", "{}", 60);
  expect_only_finding(survey(), "redis.keys.state", "3 of 7 keys look like task");
}

TEST_F(KeySurvey, FindsAKeyOfOursThatIsNoString) {
  server().ask({"DEL", kFile});
  server().ask({"HSET", kFile, "f", "v"});
  server().ask({"EXPIRE", kFile, "60"});
  expect_only_finding(survey(), "redis.keys.type", "1 of 4 keys of ours are no strings");
}

// covers 000-V03 000-X10
TEST_F(KeySurvey, FindsValuesAboveTargetAndLimit) {
  set(kText, std::string(32 * 1024, 'x'), 600);
  EXPECT_EQ(others(survey()), "");
  set(kText, std::string(32 * 1024 + 1, 'x'), 600);
  expect_only_finding(survey(), "redis.keys.value_target", "the longest has 32769");
  set(kText, std::string(128 * 1024, 'x'), 600);
  expect_only_finding(survey(), "redis.keys.value_target", "the longest has 131072");
  set(kText, std::string(128 * 1024 + 1, 'x'), 600);
  expect_only_finding(survey(), "redis.keys.value_limit", "1 of 4 keys");
}

TEST_F(KeySurvey, WhatItMayNotAskIsNotChecked) {
  server().ask({"ACL", "SETUSER", "half", "on", ">half", "~*", "-@all", "+ping", "+scan", "+type"});
  const auto connection = connect("redis://half:half@127.0.0.1:" + std::to_string(server().port()));
  const auto figures = safety::survey_keys(*connection, {});
  EXPECT_THAT(figures.cut_short, HasSubstr("noperm"));
  Diagnoses diagnoses;
  judge_keys(figures, {}, diagnoses);
  EXPECT_EQ(diagnoses.count(State::kNotChecked), 8U);
  EXPECT_EQ(diagnoses.count(State::kOk), 0U);
}

TEST_F(KeySurvey, AScanThatIsCutShortKeepsWhatItFound) {
  safety::KeyFigures figures;
  figures.keys = 10;
  figures.without_ttl = 1;
  figures.cut_short = "the connection failed: closed";
  Diagnoses diagnoses;
  judge_keys(figures, {}, diagnoses);
  EXPECT_EQ(diagnosis(diagnoses, "redis.keys.ttl").state, State::kFinding);
  EXPECT_EQ(diagnosis(diagnoses, "redis.keys.state").state, State::kNotChecked);
}

TEST_F(KeySurvey, TellsHowFarItIs) {
  for (int i = 0; i < 1000; ++i) set("han:safety:rl:service:chat:" + std::to_string(i), "1", 60);
  std::uint64_t seen = 0;
  std::uint64_t total = 0;
  int calls = 0;
  survey({.on_progress = [&](std::uint64_t now, std::uint64_t all) {
    EXPECT_GE(now, seen);
    EXPECT_LE(now, all);
    seen = now;
    total = all;
    ++calls;
  }});
  EXPECT_EQ(seen, total);
  EXPECT_GE(total, 1000U);
  EXPECT_GT(calls, 2);
}

}  // namespace
}  // namespace han::tests
