#include "safety/apps/ctl/task_output.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace han::tests {
namespace {

TEST(TaskOutput, JsonHasEveryFieldAndNullForWhatIsAbsent) {
  pgqueue::TaskView task;
  task.state = "queued";
  task.kind = "text";
  task.caller = "api";
  task.submitted_at_ms = 5;
  EXPECT_EQ(
      safety::to_line(safety::task_json(task)),
      "{\"id\":\"00000000-0000-0000-0000-000000000000\",\"state\":\"queued\",\"kind\":\"text\","
      "\"caller\":\"api\",\"class\":0,\"generation\":0,\"attempt\":0,\"submitted_at_ms\":5,"
      "\"finished_at_ms\":null,\"decide_by_ms\":null,\"parked\":null,\"crashes\":0,"
      "\"redrive_of\":null,\"redriven_to\":null,\"last_failure\":null,\"decision\":null,"
      "\"disposition\":null,\"reason\":null,\"rules\":[],\"monitor_rules\":[],"
      "\"versions\":{\"rules\":null,\"config\":null,\"detectors\":null},\"layer\":null}");
}

TEST(TaskOutput, TheTableShowsTimesForPeople) {
  pgqueue::TaskView task;
  task.submitted_at_ms = 0;
  std::ostringstream out;
  safety::task_table(task).print(out);
  EXPECT_NE(out.str().find("submitted       1970-01-01 00:00:00\n"), std::string::npos);
  EXPECT_NE(out.str().find("finished        -\n"), std::string::npos);
}

TEST(TaskOutput, OutcomesHaveTheWordsOfTheDatabase) {
  EXPECT_EQ(safety::to_string(pgqueue::SubmitOutcome::kCreated), "created");
  EXPECT_EQ(safety::to_string(pgqueue::SubmitOutcome::kDuplicate), "duplicate");
  EXPECT_EQ(safety::to_string(pgqueue::SubmitOutcome::kConflict), "conflict");
  EXPECT_EQ(safety::to_string(pgqueue::SubmitOutcome::kSuperseded), "superseded");
}

}  // namespace
}  // namespace han::tests
