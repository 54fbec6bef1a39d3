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
  CtlResult queue(std::vector<std::string> tail) const {
    tail.insert(tail.begin(), "queue");
    return run_ctl(tail, {.env = {"MESSAGE_SAFETY_DATABASE_URL=" + conninfo_}});
  }
  CtlResult stats(std::vector<std::string> tail) const {
    tail.insert(tail.begin(), "stats");
    return queue(std::move(tail));
  }
};

TEST_F(QueueCommand, CountsTasks) {
  submit(3);
  claim_one();
  const auto result = stats({"--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["ready"], 3);
  EXPECT_EQ(json["leased"], 1);
  EXPECT_EQ(json["delayed"], 0);
  EXPECT_EQ(json["bound"], 100000);
  EXPECT_EQ(json["classes"][0]["class"], 1);
  EXPECT_EQ(json["classes"][0]["waiting"], 2);
  EXPECT_EQ(json["default_partition_rows"], 0);
  EXPECT_THAT(stats({}).out, HasSubstr("waiting            2\n"));
  EXPECT_THAT(stats({}).out, HasSubstr("paused kinds       -\n"));
}

TEST_F(QueueCommand, SaysWhenItStoppedCounting) {
  submit(3);
  EXPECT_THAT(stats({"--bound", "2"}).out, HasSubstr("waiting            2+\n"));
}

TEST_F(QueueCommand, PausesAKindAndSaysHowManyTasksWait) {
  submit(1500);
  const auto lease = claim_one();
  const auto paused = queue({"pause", "text", "--json"});
  EXPECT_EQ(paused.code, 0) << paused.err;
  EXPECT_EQ(Json::parse(paused.out),
            Json({{"kind", "text"}, {"paused", true}, {"changed", true}, {"tasks", 1499}}));
  EXPECT_EQ(claim(10).size(), 0U);
  EXPECT_EQ(complete(lease), pgqueue::CompletionOutcome::kCompleted);
  EXPECT_EQ(Json::parse(stats({"--json"}).out)["paused_kinds"][0]["kind"], "text");
  EXPECT_THAT(queue({"pause", "text"}).out,
              HasSubstr("text is paused, as it was before: 0 waiting tasks are set aside"));
  const auto resumed = queue({"resume", "text", "--json"});
  EXPECT_EQ(Json::parse(resumed.out),
            Json({{"kind", "text"}, {"paused", false}, {"changed", true}, {"tasks", 1499}}));
  EXPECT_EQ(claim(10).size(), 10U);
  EXPECT_THAT(queue({"resume", "text"}).out,
              HasSubstr("text is claimed again, as it was before: 0 tasks can be claimed again"));
  EXPECT_EQ(value("SELECT string_agg(event || ' ' || detail, ',' ORDER BY at) "
                  "FROM message_safety.audit WHERE event IN ('paused', 'resumed')"),
            "paused text,resumed text");
}

TEST_F(QueueCommand, AnotherKindIsNotTouched) {
  submit(3);
  EXPECT_THAT(queue({"pause", "link"}).out, HasSubstr("link is paused: 0 waiting tasks"));
  EXPECT_EQ(claim(10).size(), 3U);
}

TEST_F(QueueCommand, RefusesWrongUsage) {
  for (const std::vector<std::string>& tail : {std::vector<std::string>{},
                                               {"stats", "--bound", "0"},
                                               {"stats", "zebra"},
                                               {"pause"},
                                               {"pause", "ZEBRA"},
                                               {"resume", "zebra 1"},
                                               {"pause", "text", "zebra"},
                                               {"watch", "--interval", "0"},
                                               {"watch", "--count", "0"}}) {
    const auto result = queue(tail);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_FALSE(result.shows("zebra"));
  }
}

TEST_F(QueueCommand, AnEmptyDatabaseNamesTheFix) {
  execute("DROP SCHEMA message_safety CASCADE");
  const auto result = stats({});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(is_one_line_error(result));
  EXPECT_THAT(result.err, HasSubstr("run safetyctl migrate"));
}

TEST_F(QueueCommand, AServerThatIsDownIsAnError) {
  const auto result = stats({"--database", "host=" + server().dir().file("none")});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(is_one_line_error(result));
  EXPECT_THAT(result.err, HasSubstr("check that the server runs"));
}

}  // namespace
}  // namespace han::tests
