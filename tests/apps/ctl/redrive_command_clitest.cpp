#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

#include "safety/apps/ctl/redrive_command.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

class RedriveCommand : public QueueFixture {
 protected:
  void SetUp() override {
    QueueFixture::SetUp();
    open({.payload_retention = pgqueue::sql::PayloadRetention::kKeep});
  }

  // A dead letter of this reason.
  std::string dead_letter(const std::string& reason) {
    const std::string id = submit(1).front().to_string();
    const pgqueue::Failure failure{.lease = claim_one(),
                                   .attempt = 1,
                                   .failure_class = pgqueue::FailureClass::kBadInput,
                                   .reason = reason};
    EXPECT_EQ(queue_->fail({&failure, 1}, soon()).front(), pgqueue::FailOutcome::kDead);
    return id;
  }

  CtlResult redrive(std::vector<std::string> tail) const {
    tail.insert(tail.begin(), {"queue", "redrive"});
    return run_ctl(tail, {.env = {"MESSAGE_SAFETY_DATABASE_URL=" + conninfo_}});
  }

  static std::vector<Json> lines(const CtlResult& result) {
    std::vector<Json> all;
    std::istringstream text(result.out);
    for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line));
    return all;
  }
};

TEST_F(RedriveCommand, MakesNewTasksOfTheDeadLettersOfAReason) {
  const std::string first = dead_letter("broken");
  const std::string other = dead_letter("strange");
  const auto result = redrive({"--reason", "broken", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const auto all = lines(result);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["task_id"], first);
  EXPECT_EQ(all[0]["outcome"], "redriven");
  EXPECT_EQ(all[1], Json({{"candidates", 1}, {"redriven", 1}, {"refused", 0}}));
  EXPECT_EQ(value("SELECT id || ' ' || redrive_of FROM message_safety.safety_tasks"),
            all[0]["new_id"].get<std::string>() + " " + first);
  const auto again = redrive({"--reason", "broken", "--json"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(lines(again)[0]["outcome"], "again");
  EXPECT_EQ(lines(again)[0]["new_id"], all[0]["new_id"]);
  EXPECT_FALSE(result.shows(other));
  EXPECT_THAT(redrive({"--kind", "text"}).out, HasSubstr("2 candidates: 1 redriven, 0 refused\n"));
}

TEST_F(RedriveCommand, ADryRunChangesNothing) {
  const std::string id = dead_letter("broken");
  const auto result = redrive({"--reason", "broken", "--dry-run"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(id + "  candidate  -\n1 candidates: 0 redriven"));
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "0");
}

TEST_F(RedriveCommand, TakesAtMostTheLimit) {
  for (int i = 0; i < 3; ++i) dead_letter("broken");
  EXPECT_THAT(redrive({"--reason", "broken", "--limit", "2"}).out, HasSubstr("2 candidates"));
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "2");
}

TEST_F(RedriveCommand, SaysWhatCannotBeRedriven) {
  open({});
  const std::string id = dead_letter("broken");
  const auto result = redrive({"--reason", "broken"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(is_one_line_error(result));
  EXPECT_THAT(result.out, HasSubstr(id + "  no_payload  -\n"));
  EXPECT_THAT(result.err, HasSubstr("1 tasks were not redriven"));
}

TEST_F(RedriveCommand, NothingToRedriveIsNoError) {
  const auto result = redrive({"--reason", "crashed", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(lines(result).back(), Json({{"candidates", 0}, {"redriven", 0}, {"refused", 0}}));
}

TEST_F(RedriveCommand, AnUnknownCallerIsAFailure) {
  const auto result = redrive({"--caller", "nosuch"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(is_one_line_error(result));
  EXPECT_THAT(result.err, HasSubstr("no caller has this name"));
  EXPECT_EQ(redrive({"--caller", "safetyctl"}).code, 0);
}

TEST_F(RedriveCommand, RefusesWrongUsage) {
  for (const std::vector<std::string>& tail : {std::vector<std::string>{},
                                               {"--days", "1"},
                                               {"--reason", ""},
                                               {"--reason", "crashed", "--state", "done"},
                                               {"--reason", "crashed", "--state", "zebra"},
                                               {"--reason", "crashed", "--limit", "10001"},
                                               {"zebra", "--reason", "crashed"}}) {
    const auto result = redrive(tail);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_FALSE(result.shows("zebra"));
  }
}

}  // namespace
}  // namespace han::tests
