#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

#include "safety/apps/ctl/submit_command.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"
#include "tests/support/redis_server.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

class SubmitCommand : public QueueFixture {
 protected:
  CtlOptions options(const std::string& input = "") const {
    return {.input = input, .env = {"MESSAGE_SAFETY_DATABASE_URL=" + conninfo_}};
  }

  CtlResult submit_text(std::vector<std::string> tail, const std::string& input = "") const {
    tail.insert(tail.begin(), {"submit", "text"});
    return run_ctl(tail, options(input));
  }

  static std::vector<Json> lines(const CtlResult& result) {
    std::vector<Json> all;
    std::istringstream text(result.out);
    for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line));
    return all;
  }

  std::string count() { return value("SELECT count(*) FROM message_safety.safety_tasks"); }

  // Runs `submit text --wait` for the given texts and finishes each task with the next outcome.
  CtlResult wait_for(std::vector<std::string> tail, const std::vector<pgqueue::Outcome>& outcomes) {
    tail.insert(tail.begin(), {"submit", "text", "--wait", "--timeout", "30"});
    CtlRun run(tail, options());
    std::size_t next = 0;
    const bool all_claimed = await([&] {
      for (const auto& task : claim(10)) {
        pgqueue::Completion completion;
        completion.lease = task.lease;
        completion.outcome = outcomes.at(next++);
        queue_->complete({&completion, 1}, nullptr, soon());
      }
      return next == outcomes.size();
    });
    EXPECT_TRUE(all_claimed);
    return run.finish();
  }
};

const pgqueue::Outcome kAllowed{.decision = "allow"};
const pgqueue::Outcome kBlocked{.decision = "block", .reason = "rule", .rules = "scam.gift"};
const pgqueue::Outcome kHeld{.decision = "indeterminate", .disposition = "hold", .reason = "limit"};

TEST_F(SubmitCommand, SubmitsTextsAndPrintsTheirIds) {
  const auto result = submit_text({"--json", "one", "[two]", "migrate"});
  EXPECT_EQ(result.code, 0) << result.err;
  const auto all = lines(result);
  ASSERT_EQ(all.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all[i].size(), 2U);
    EXPECT_TRUE(pgqueue::Uuid::parse(all[i]["task_id"].get<std::string>()));
    EXPECT_EQ(all[i]["outcome"], "created");
  }
  EXPECT_EQ(all[3], Json({{"submitted", 3},
                          {"created", 3},
                          {"duplicate", 0},
                          {"conflict", 0},
                          {"superseded", 0},
                          {"quarantined", 0},
                          {"hint", "off"}}));
  EXPECT_EQ(value("SELECT string_agg(convert_from(payload, 'UTF8'), '|' ORDER BY id) "
                  "FROM message_safety.safety_tasks"),
            "one|[two]|migrate");
  EXPECT_EQ(value("SELECT min(kind) FROM message_safety.safety_tasks"), "text");
}

TEST_F(SubmitCommand, PrintsATableForPeopleWithoutTheText) {
  const auto result = submit_text({"zebra"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("  created\n1 submitted: 1 created"));
  EXPECT_FALSE(result.shows("zebra"));
}

TEST_F(SubmitCommand, ATextIsSubmittedByteForByte) {
  EXPECT_EQ(submit_text({"-"}, std::string("a\0\xff", 3)).code, 0);
  EXPECT_EQ(submit_text({""}).code, 0);
  EXPECT_EQ(value("SELECT string_agg(encode(payload, 'hex'), '|' ORDER BY id) "
                  "FROM message_safety.safety_tasks"),
            "6100ff|");
}

TEST_F(SubmitCommand, OptionsReachTheTask) {
  EXPECT_EQ(submit_text({"a", "--class", "0", "--subject", "s", "--version", "3"}).code, 0);
  EXPECT_EQ(value("SELECT class || subject_id || subject_version FROM message_safety.safety_tasks"),
            "0s3");
}

TEST_F(SubmitCommand, AKeyMakesASecondSubmissionADuplicateOrAConflict) {
  EXPECT_EQ(submit_text({"a", "--key", "k"}).code, 0);
  const auto again = submit_text({"a", "--key", "k", "--json"});
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(lines(again)[0]["outcome"], "duplicate");
  const auto other = submit_text({"zebra", "--key", "k", "--json"});
  EXPECT_EQ(other.code, 1);
  EXPECT_TRUE(is_one_line_error(other));
  EXPECT_THAT(other.err, HasSubstr("conflict"));
  EXPECT_EQ(lines(other)[0]["outcome"], "conflict");
  EXPECT_FALSE(other.shows("zebra"));
  EXPECT_EQ(count(), "1");
}

TEST_F(SubmitCommand, SubmitsLinesInBatches) {
  std::string input;
  for (int i = 0; i < 2500; ++i) input += "\"text " + std::to_string(i) + "\"\n";
  input += R"({"text":"last","key":"k","class":9,"decide_within_ms":60000})";
  const auto result = submit_text({"--lines", "-", "--ids", "--json", "--class", "2"}, input);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(lines(result).size(), 2502U);
  EXPECT_EQ(lines(result).back()["created"], 2501);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks WHERE class = 2"), "2500");
  EXPECT_EQ(value("SELECT count(DISTINCT submitted_at) FROM message_safety.safety_tasks"), "3");
}

TEST_F(SubmitCommand, ALineOfTwentyMebibytesIsABadLine) {
  const auto result =
      submit_text({"--lines", "-"}, "\"a\"\n\"" + std::string(std::size_t{20} << 20, 'z') + "\"\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("line 2: the line: is too long"));
  EXPECT_EQ(count(), "0");
}

TEST_F(SubmitCommand, ATextOfTenMebibytesIsRefused) {
  const auto result = submit_text({"-", "small"}, std::string(std::size_t{10} << 20, 'z'));
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(is_one_line_error(result));
  EXPECT_EQ(count(), "0");
}

TEST_F(SubmitCommand, WaitsAndExitsWithTheVerdict) {
  EXPECT_EQ(wait_for({"a"}, {kAllowed}).code, 0);
  EXPECT_EQ(wait_for({"a"}, {kBlocked}).code, 10);
  EXPECT_EQ(wait_for({"a"}, {kHeld}).code, 11);
  const auto all = wait_for({"a", "b", "c", "--json"}, {kHeld, kBlocked, kAllowed});
  EXPECT_EQ(all.code, 10) << all.err;
  ASSERT_EQ(lines(all).size(), 7U);
  EXPECT_EQ(lines(all)[1]["outcome"], "created");
  const Json blocked = lines(all)[4];
  EXPECT_EQ(blocked["task_id"], lines(all)[1]["task_id"]);
  EXPECT_EQ(blocked["state"], "done");
  EXPECT_EQ(blocked["decision"], "block");
  EXPECT_EQ(blocked["rules"], Json({"scam.gift"}));
  EXPECT_EQ(lines(all)[3]["disposition"], "hold");
}

TEST_F(SubmitCommand, PrintsTheIdsBeforeItWaits) {
  TcpGate gate(server().socket_path());
  const std::string url =
      "host=127.0.0.1 sslmode=disable user=postgres port=" + std::to_string(gate.port()) +
      " dbname=" + value("SELECT current_database()");
  CtlRun run({"submit", "text", "--wait", "--timeout", "2", "--database", url, "a"}, options());
  EXPECT_TRUE(await([&] { return run.out().find("  created\n") != std::string::npos; }));
  const std::string id = run.out().substr(0, 36);
  EXPECT_EQ(value("SELECT id FROM message_safety.safety_tasks"), id);
  // The database goes away and takes no id along.
  gate.set(GateMode::kRefuse);
  const auto result = run.finish();
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(is_one_line_error(result));
  EXPECT_THAT(result.out, ::testing::StartsWith(id));
  EXPECT_THAT(result.out, HasSubstr("1 submitted"));
}

TEST_F(SubmitCommand, ATaskWithoutAVerdictInTimeIsAFailure) {
  const auto late = submit_text({"a", "--wait", "--timeout", "1"});
  EXPECT_EQ(late.code, 1);
  EXPECT_TRUE(is_one_line_error(late));
  EXPECT_THAT(late.err, HasSubstr("1 tasks have no verdict"));
  EXPECT_THAT(late.out, HasSubstr("unfinished"));
  EXPECT_EQ(submit_text({"b", "--subject", "s", "--version", "2"}).code, 0);
  EXPECT_EQ(submit_text({"b", "--subject", "s", "--version", "1", "--wait"}).code, 1);
}

TEST_F(SubmitCommand, TellsTheWorkersWhenRedisIsThere) {
  RedisServer redis;
  auto with_redis = options();
  with_redis.env.push_back("MESSAGE_SAFETY_REDIS_URL=" + redis.url());
  const auto sent = run_ctl({"submit", "text", "a", "--json"}, with_redis);
  EXPECT_EQ(lines(sent).back()["hint"], "sent");
  redis.kill();
  const auto lost = run_ctl({"submit", "text", "a", "--json"}, with_redis);
  EXPECT_EQ(lost.code, 0) << lost.err;
  EXPECT_EQ(lost.err, "");
  EXPECT_EQ(lines(lost).back()["hint"], "lost");
}

TEST_F(SubmitCommand, RefusesWrongUsage) {
  for (const std::vector<std::string>& tail : {std::vector<std::string>{},
                                               {"a", "--lines", "-"},
                                               {"a", "b", "--key", "k"},
                                               {"--lines", "-", "--key", "k"},
                                               {"a", "--subject", "s"},
                                               {"a", "--version", "1"},
                                               {"a", "--key", ""},
                                               {"a", "--class", "10"},
                                               {"a", "--timeout", "0"},
                                               {"a", "--zebra"},
                                               {"a", "--key", "\xff"}}) {
    const auto result = submit_text(tail);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_TRUE(is_one_line_error(result));
  }
  EXPECT_EQ(count(), "0");
}

TEST_F(SubmitCommand, AMissingFileOrAFolderIsAnError) {
  for (const std::string path : {"/nowhere/zebra", "/tmp"}) {
    const auto result = submit_text({"--lines", path});
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(is_one_line_error(result));
  }
}

TEST_F(SubmitCommand, AnUnknownCallerIsAnErrorWithItsFix) {
  const auto result = submit_text({"zebra", "--caller", "nobody"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(is_one_line_error(result));
  EXPECT_THAT(result.err, HasSubstr("unknown caller"));
  EXPECT_THAT(result.err, HasSubstr("register_caller"));
  EXPECT_FALSE(result.shows("zebra"));
}

TEST_F(SubmitCommand, AnEmptyInputSubmitsNothing) {
  EXPECT_EQ(submit_text({"--lines", "-"}, "").code, 0);
  EXPECT_EQ(submit_text({"--lines", "-", "--wait"}, "").code, 0);
}

TEST_F(SubmitCommand, SubmitsLinksToo) {
  const std::string lines = "\"https://b.example/\"\n{\"url\":\"https://c.example/\"}\n";
  EXPECT_EQ(run_ctl({"submit", "link", "https://a.example/"}, options()).code, 0);
  EXPECT_EQ(run_ctl({"submit", "link", "--lines", "-"}, options(lines)).code, 0);
  EXPECT_EQ(
      value("SELECT string_agg(kind || ' ' || convert_from(payload, 'UTF8'), '|' ORDER BY id) "
            "FROM message_safety.safety_tasks"),
      "link https://a.example/|link https://b.example/|link https://c.example/");
}

}  // namespace
}  // namespace han::tests
