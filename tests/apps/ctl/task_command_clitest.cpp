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

TEST_F(TaskCommand, RetriesATaskThatWaitsForItsTime) {
  auto task = text_task("later");
  task.run_after = 1h;
  const std::string id =
      queue_->submit("safetyctl", {&task, 1}, soon()).submissions.front().task_id.to_string();
  EXPECT_EQ(claim(1).size(), 0U);
  const auto ready = ctl({"task", "retry", id, "--json"});
  EXPECT_EQ(ready.code, 0) << ready.err;
  EXPECT_EQ(Json::parse(ready.out), Json({{"id", id}, {"outcome", "ready"}, {"new_id", nullptr}}));
  const auto lease = claim_one();
  const auto leased = ctl({"task", "retry", id});
  EXPECT_EQ(leased.code, 1);
  EXPECT_TRUE(is_one_line_error(leased));
  EXPECT_THAT(leased.err, HasSubstr("a worker has the task just now"));
  EXPECT_EQ(leased.out, id + "  leased\n");
  complete(lease);
  EXPECT_THAT(ctl({"task", "retry", id}).err, HasSubstr("ended with a verdict"));
}

TEST_F(TaskCommand, RetriesADeadLetterAsANewTask) {
  open({.payload_retention = pgqueue::sql::PayloadRetention::kKeep});
  const std::string id = submit(1).front().to_string();
  const pgqueue::Failure failure{.lease = claim_one(),
                                 .attempt = 1,
                                 .failure_class = pgqueue::FailureClass::kBadInput,
                                 .reason = "broken"};
  queue_->fail({&failure, 1}, soon());
  const auto result = ctl({"task", "retry", id, "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::string new_id = Json::parse(result.out)["new_id"];
  EXPECT_EQ(Json::parse(result.out)["outcome"], "redriven");
  EXPECT_EQ(Json::parse(ctl({"task", "show", new_id, "--json"}).out)["redrive_of"], id);
  EXPECT_EQ(Json::parse(ctl({"task", "show", id, "--json"}).out)["redriven_to"], new_id);
}

TEST_F(TaskCommand, ErasesAPayload) {
  open({.payload_retention = pgqueue::sql::PayloadRetention::kKeep});
  const std::string id = submit(1).front().to_string();
  complete(claim_one());
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.payloads"), "1");
  const auto erased = ctl({"task", "erase", id, "--json"});
  EXPECT_EQ(erased.code, 0) << erased.err;
  EXPECT_EQ(Json::parse(erased.out),
            Json({{"id", id}, {"was_live", false}, {"payloads_erased", 1}}));
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.payloads"), "0");
  EXPECT_EQ(ctl({"task", "erase", id}).out, id + "  there was no payload any more\n");
  const std::string live = submit(1).front().to_string();
  EXPECT_EQ(ctl({"task", "erase", live}).out, live + "  erased, it was cancelled\n");
  EXPECT_EQ(Json::parse(ctl({"task", "show", live, "--json"}).out)["state"], "cancelled");
}

TEST_F(TaskCommand, AnUnknownTaskIsAFailure) {
  for (const std::string command : {"show", "cancel", "erase"}) {
    const auto result = ctl({"task", command, pgqueue::Uuid::v7().to_string()});
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_EQ(result.out, "");
  }
  for (const std::string command : {"show", "erase"}) {
    const std::string id = pgqueue::Uuid::v7().to_string();
    const auto result = ctl({"task", command, id, "--json"});
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_EQ(Json::parse(result.out), Json({{"id", id}, {"found", false}}));
  }
  const auto retried = ctl({"task", "retry", pgqueue::Uuid::v7().to_string()});
  EXPECT_EQ(retried.code, 1);
  EXPECT_THAT(retried.err, HasSubstr("no task has this id"));
}

TEST_F(TaskCommand, AMalformedIdIsWrongUsage) {
  for (const std::string id : {"zebra", "", "0197c2a0-0000-7000-8000-00000000000",
                               "0197c2a0-0000-7000-8000-00000000000g", "\xff"}) {
    for (const std::string command : {"show", "cancel", "retry", "erase"}) {
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
  EXPECT_THAT(ctl({"tasks", "--state", "queued"}).out, HasSubstr("  queued  -       text"));
  for (const std::string state : {"leased", "cancelled", "superseded", "expired", "dead"}) {
    EXPECT_EQ(ctl({"tasks", "--state", state}).code, 0);
  }
}

TEST_F(TaskCommand, FiltersTheList) {
  execute("SELECT message_safety.register_caller('chat')");
  auto urgent = text_task("a");
  urgent.priority_class = std::int16_t{0};
  const auto id = queue_->submit("chat", {&urgent, 1}, soon()).submissions.front().task_id;
  submit(2);
  const auto count = [this](std::vector<std::string> tail) {
    tail.insert(tail.begin(), {"tasks", "--state", "queued", "--json"});
    return Json::parse(ctl(tail).out)["tasks"].size();
  };
  EXPECT_EQ(count({}), 3U);
  EXPECT_EQ(count({"--caller", "chat"}), 1U);
  EXPECT_EQ(count({"--class", "0"}), 1U);
  EXPECT_EQ(count({"--class", "1", "--kind", "text"}), 2U);
  EXPECT_EQ(count({"--kind", "link"}), 0U);
  EXPECT_EQ(count({"--reason", "broken"}), 0U);
  const auto list = ctl({"tasks", "--state", "queued", "--caller", "chat", "--json"});
  const Json task = Json::parse(list.out)["tasks"][0];
  EXPECT_EQ(task["id"], id.to_string());
  EXPECT_EQ(task["caller"], "chat");
  EXPECT_EQ(task["class"], 0);
  EXPECT_EQ(task["parked"], nullptr);
}

TEST_F(TaskCommand, AnUnknownCallerIsAFailure) {
  for (const std::string state : {"queued", "done"}) {
    const auto result = ctl({"tasks", "--state", state, "--caller", "nosuch"});
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_THAT(result.err, HasSubstr("no caller has this name"));
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(ctl({"tasks", "--state", state, "--caller", "safetyctl"}).code, 0);
  }
}

TEST_F(TaskCommand, AnUnknownStateIsWrongUsage) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"tasks"},
                                                    {"tasks", "--state", "zebra"},
                                                    {"tasks", "--state", ""},
                                                    {"tasks", "--state", "done", "--limit", "0"},
                                                    {"tasks", "--state", "done", "--days", "x"},
                                                    {"tasks", "--state", "done", "--class", "10"},
                                                    {"tasks", "--state", "done", "--kind", "ZEBRA"},
                                                    {"tasks", "--state", "done", "--caller", ""}}) {
    const auto result = ctl(arguments);
    EXPECT_EQ(result.code, 2);
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_FALSE(result.shows("zebra"));
  }
}

}  // namespace
}  // namespace han::tests
