#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "safety/apps/ctl/queue_command.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

class QueueCommand : public QueueFixture {
 protected:
  CtlResult stats(std::vector<std::string> tail) const {
    tail.insert(tail.begin(), {"queue", "stats", "--database", conninfo_});
    return run_ctl(tail);
  }
};

TEST_F(QueueCommand, CountsTasks) {
  submit(3);
  claim_one();
  const auto result = stats({"--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json.size(), 8U);
  EXPECT_EQ(json["ready"], 3);
  EXPECT_EQ(json["leased"], 1);
  EXPECT_EQ(json["delayed"], 0);
  EXPECT_EQ(json["bound"], 100000);
  EXPECT_EQ(json["default_partition_rows"], 0);
  EXPECT_THAT(stats({}).out, HasSubstr("ready              3\n"));
}

TEST_F(QueueCommand, SaysWhenItStoppedCounting) {
  submit(3);
  EXPECT_THAT(stats({"--bound", "2"}).out, HasSubstr("ready              at least 2\n"));
}

TEST_F(QueueCommand, RefusesWrongUsage) {
  EXPECT_EQ(stats({"--bound", "0"}).code, 2);
  EXPECT_EQ(stats({"zebra"}).code, 2);
  EXPECT_EQ(run_ctl({"queue"}).code, 2);
}

TEST_F(QueueCommand, AnEmptyDatabaseNamesTheFix) {
  execute("DROP SCHEMA message_safety CASCADE");
  const auto result = stats({});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(is_one_line_error(result));
  EXPECT_THAT(result.err, HasSubstr("run safetyctl migrate"));
}

TEST_F(QueueCommand, AServerThatIsDownIsAnError) {
  const auto result =
      run_ctl({"queue", "stats", "--database", "host=" + server().dir().file("none")});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(is_one_line_error(result));
  EXPECT_THAT(result.err, HasSubstr("check that the server runs"));
}

}  // namespace
}  // namespace han::tests
