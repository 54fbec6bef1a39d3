#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "safety/apps/ctl/failure.h"
#include "safety/apps/ctl/submitter.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/await.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using safety::Submitter;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SubmitterTest : public QueueFixture {
 protected:
  Submitter make() {
    return {*queue_, {.caller = "safetyctl"}, hints_, [this](const auto& batch) {
              batch_sizes_.push_back(batch.size());
            }};
  }

  std::string conninfo_of(const TcpGate& gate) {
    return "host=127.0.0.1 sslmode=disable user=postgres port=" + std::to_string(gate.port()) +
           " dbname=" + value("SELECT current_database()");
  }

  // Loses the answer of the second batch, whose tasks are `tasks`, by a gate on its way.
  void lose_second_answer(const std::vector<pgqueue::NewTask>& tasks) {
    TcpGate gate(server().socket_path());
    pgqueue::Pool pool({.conninfo = conninfo_of(gate)});
    pgqueue::Queue queue(pool, {});
    Submitter submitter(queue,
                        {.caller = "safetyctl",
                         .is_stopped =
                             [&] {
                               gate.set(GateMode::kPass);
                               return false;
                             }},
                        hints_,
                        [this](const auto& batch) { batch_sizes_.push_back(batch.size()); });
    submitter.add(text_task("first"));
    submitter.flush();
    gate.set(GateMode::kCut);
    for (const auto& task : tasks) submitter.add(task);
    submitter.flush();
  }

  std::string count() { return value("SELECT count(*) FROM message_safety.safety_tasks"); }

  // No address of a Redis anywhere.
  safety::HintSender hints_{[](const std::string&) { return std::optional<std::string>(); }};
  std::vector<std::size_t> batch_sizes_;
};

TEST_F(SubmitterTest, SubmitsAThousandTasksInOneTransaction) {
  Submitter submitter = make();
  for (int i = 0; i < 2500; ++i) submitter.add(text_task("t"));
  EXPECT_EQ(submitter.waiting(), 500U);
  submitter.flush();
  submitter.flush();
  EXPECT_THAT(batch_sizes_, ElementsAre(1000U, 1000U, 500U));
  EXPECT_EQ(submitter.counts().created, 2500U);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "2500");
}

TEST_F(SubmitterTest, ABatchIsBoundedInBytes) {
  Submitter submitter = make();
  for (int i = 0; i < 9; ++i) submitter.add(text_task(std::string(std::size_t{2} << 20, 'a')));
  submitter.flush();
  EXPECT_THAT(batch_sizes_, ElementsAre(4U, 4U, 1U));
}

TEST_F(SubmitterTest, ABatchIsBoundedInBytesOfKeysToo) {
  Submitter submitter = make();
  auto task = text_task(std::string((std::size_t{2} << 20) - 100, 'a'));
  task.subject_id = std::string(100, 's');
  task.subject_version = 1;
  for (int i = 0; i < 4; ++i) submitter.add(task);
  submitter.add(text_task("a"));
  submitter.flush();
  EXPECT_THAT(batch_sizes_, ElementsAre(4U, 1U));
}

TEST_F(SubmitterTest, ALostAnswerOfTasksWithKeysIsAskedForAgain) {
  std::vector<pgqueue::NewTask> tasks = {text_task("a"), text_task("b")};
  tasks[0].idempotency_key = "k";
  tasks[1].subject_id = "s";
  tasks[1].subject_version = 1;
  lose_second_answer(tasks);
  EXPECT_THAT(batch_sizes_, ElementsAre(1U, 2U));
  EXPECT_EQ(count(), "3");
}

TEST_F(SubmitterTest, ALostAnswerOfATaskWithoutAKeyIsADoubtThatATaskSettles) {
  std::vector<pgqueue::NewTask> tasks = {text_task("a"), text_task("b")};
  tasks[0].idempotency_key = "k";
  try {
    lose_second_answer(tasks);
    FAIL() << "the batch was submitted again";
  } catch (const safety::SubmitFailure& failure) {
    EXPECT_EQ(failure.batch_tasks(), 2U);
    ASSERT_TRUE(failure.in_doubt());
    const std::string id = failure.in_doubt()->to_string();
    EXPECT_TRUE(await([&] {
      return value(
                 "SELECT convert_from(payload, 'UTF8') FROM message_safety.safety_tasks "
                 "WHERE id = '" +
                 id + "'") == "b";
    }));
  }
  EXPECT_EQ(count(), "3");
}

TEST_F(SubmitterTest, AServerThatIsAwayAtFirstIsAnErrorAtOnce) {
  TcpGate gate(server().socket_path());
  gate.set(GateMode::kReset);
  pgqueue::Pool pool({.conninfo = conninfo_of(gate), .connect_timeout = 100ms});
  pgqueue::Queue queue(pool, {});
  int asked = 0;
  Submitter submitter(queue,
                      {.caller = "safetyctl", .is_stopped = [&asked] { return ++asked > 1; }},
                      hints_, [](const auto&) {});
  submitter.add(text_task("a"));
  EXPECT_THROW(submitter.flush(), safety::SubmitFailure);
  EXPECT_EQ(asked, 1);
}

TEST_F(SubmitterTest, AFailedBatchSaysHowManyWereSubmittedBefore) {
  Submitter submitter = make();
  for (int i = 0; i < 1000; ++i) submitter.add(text_task("t"));
  auto bad = text_task("zebra");
  bad.kind = "NO KIND";
  submitter.add(bad);
  try {
    submitter.flush();
    FAIL();
  } catch (const safety::Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("1000 tasks were submitted before"));
    EXPECT_THAT(failure.what(), ::testing::Not(HasSubstr("zebra")));
  }
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks"), "1000");
}

}  // namespace
}  // namespace han::tests
