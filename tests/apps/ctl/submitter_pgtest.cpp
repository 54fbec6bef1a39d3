#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "safety/apps/ctl/failure.h"
#include "safety/apps/ctl/submitter.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {
namespace {

using safety::Submitter;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SubmitterTest : public QueueFixture {
 protected:
  Submitter make(const std::string& caller = "safetyctl") {
    return {*queue_, caller, hints_,
            [this](const auto& batch) { batch_sizes_.push_back(batch.size()); }};
  }

  safety::HintSender hints_{nullptr};
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
