#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "safety/apps/ctl/task_command.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

class TaskCommand : public QueueFixture {
 protected:
  CtlResult ctl(const std::vector<std::string>& arguments) const {
    return run_ctl(arguments, {.env = {"MESSAGE_SAFETY_DATABASE_URL=" + conninfo_}});
  }
};

TEST_F(TaskCommand, ShowsALiveAndAFinishedTask) {
  const std::string id = submit(1).front().to_string();
  const auto live = ctl({"task", "show", id, "--json"});
  EXPECT_EQ(live.code, 0) << live.err;
  EXPECT_EQ(Json::parse(live.out)["id"], id);
  EXPECT_EQ(Json::parse(live.out)["state"], "queued");
  EXPECT_EQ(Json::parse(live.out)["caller"], "safetyctl");
  EXPECT_EQ(Json::parse(live.out)["decision"], nullptr);
  EXPECT_FALSE(live.shows("payload 0"));
  complete(claim_one());
  const auto done = ctl({"task", "show", id, "--json"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(Json::parse(done.out)["decision"], "monitor");
  EXPECT_THAT(ctl({"task", "show", id}).out, HasSubstr("state           done\n"));
}

TEST_F(TaskCommand, CancelsALiveTaskOnce) {
  const std::string id = submit(1).front().to_string();
  const auto first = ctl({"task", "cancel", id, "--json"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(Json::parse(first.out), Json({{"id", id}, {"cancelled", true}}));
  const auto second = ctl({"task", "cancel", id, "--json"});
  EXPECT_EQ(second.code, 1);
  EXPECT_TRUE(is_one_line_error(second));
  EXPECT_EQ(Json::parse(second.out)["cancelled"], false);
  EXPECT_EQ(Json::parse(ctl({"task", "show", id, "--json"}).out)["state"], "cancelled");
}

TEST_F(TaskCommand, AnUnknownTaskIsAFailure) {
  for (const std::string command : {"show", "cancel"}) {
    const auto result = ctl({"task", command, pgqueue::Uuid::v7().to_string()});
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_EQ(result.out, "");
  }
}

TEST_F(TaskCommand, AMalformedIdIsWrongUsage) {
  for (const std::string id : {"zebra", "", "0197c2a0-0000-7000-8000-00000000000",
                               "0197c2a0-0000-7000-8000-00000000000g", "\xff"}) {
    for (const std::string command : {"show", "cancel"}) {
      const auto result = ctl({"task", command, id});
      EXPECT_EQ(result.code, 2);
      EXPECT_TRUE(is_one_line_error(result));
      EXPECT_FALSE(result.shows("zebra"));
    }
  }
  EXPECT_EQ(ctl({"task", "show"}).code, 2);
}

TEST_F(TaskCommand, ListsTheTasksOfAState) {
  submit(3);
  complete(claim_one());
  const auto queued = ctl({"tasks", "--state", "queued", "--json"});
  EXPECT_EQ(queued.code, 0) << queued.err;
  EXPECT_EQ(Json::parse(queued.out)["state"], "queued");
  ASSERT_EQ(Json::parse(queued.out)["tasks"].size(), 2U);
  EXPECT_EQ(Json::parse(queued.out)["tasks"][0]["kind"], "text");
  const auto done = ctl({"tasks", "--state", "done", "--days", "1", "--json"});
  ASSERT_EQ(Json::parse(done.out)["tasks"].size(), 1U);
  EXPECT_EQ(Json::parse(done.out)["tasks"][0]["decision"], "monitor");
  const auto limited = ctl({"tasks", "--state", "queued", "--limit", "1", "--json"});
  EXPECT_EQ(Json::parse(limited.out)["tasks"].size(), 1U);
  EXPECT_THAT(ctl({"tasks", "--state", "queued"}).out, HasSubstr("  queued  text"));
  for (const std::string state : {"leased", "cancelled", "superseded", "expired", "dead"}) {
    EXPECT_EQ(ctl({"tasks", "--state", state}).code, 0);
  }
}

TEST_F(TaskCommand, AnUnknownStateIsWrongUsage) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"tasks"},
                                                    {"tasks", "--state", "zebra"},
                                                    {"tasks", "--state", ""},
                                                    {"tasks", "--state", "done", "--limit", "0"},
                                                    {"tasks", "--state", "done", "--days", "x"}}) {
    const auto result = ctl(arguments);
    EXPECT_EQ(result.code, 2);
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_FALSE(result.shows("zebra"));
  }
}

}  // namespace
}  // namespace han::tests
