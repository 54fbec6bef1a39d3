#include <thread>

#include "pgqueue/verdict_rows.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

using pgqueue::Transaction;
using pgqueue::VerdictRow;
using pgqueue::VerdictSubject;

class VerdictRows : public QueueFixture {
 protected:
  static VerdictRow row(char subject, const std::string& config, const std::string& decision) {
    return {{"text", std::string(32, subject), "p1", "r1", config, ""}, decision, "e-" + decision};
  }
  void insert(std::vector<VerdictRow> rows) {
    pgqueue::Connection connection(conninfo_, soon());
    Transaction transaction(connection);
    pgqueue::enqueue_verdicts(transaction, std::move(rows));
    transaction.commit(soon());
  }
  std::map<VerdictSubject, pgqueue::FoundVerdict> find(const std::string& rules,
                                                       const std::string& config = "") {
    pgqueue::Connection connection(conninfo_, soon());
    const std::vector<VerdictSubject> subjects = {
        {std::string(32, 'a'), "p1"}, {std::string(32, 'b'), "p1"}, {std::string(32, 'a'), "p0"}};
    return pgqueue::find_verdicts(connection, "text", rules, config, subjects, soon());
  }
};

TEST_F(VerdictRows, AreFoundByPepperAndRulesVersionUnderAnyConfig) {
  insert({row('a', "c1", "block")});
  const auto found = find("r1");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.begin()->second.evidence, "e-block");
  EXPECT_EQ(found.begin()->second.key.config_version, "c1");
  EXPECT_TRUE(find("r2").empty());
}

TEST_F(VerdictRows, AreFoundUnderOneConfigWhereItMatters) {
  insert({row('a', "c1", "block")});
  execute("UPDATE message_safety.verdicts SET decided_at = decided_at - interval '1 hour'");
  insert({row('a', "c2", "allow")});
  EXPECT_EQ(find("r1").begin()->second.decision, "allow");
  EXPECT_EQ(find("r1", "c1").begin()->second.decision, "block");
  EXPECT_TRUE(find("r1", "c3").empty());
}

TEST_F(VerdictRows, SayHowOldTheyAre) {
  insert({row('a', "c1", "block")});
  EXPECT_LT(find("r1").begin()->second.age, std::chrono::hours(1));
  execute("UPDATE message_safety.verdicts SET decided_at = decided_at - interval '30 days'");
  EXPECT_GE(find("r1").begin()->second.age, std::chrono::hours(24 * 30));
}

// A younger row is kept even when retention is told less.
TEST_F(VerdictRows, AreKeptForTheirLeastTime) {
  insert({row('a', "c1", "block"), row('b', "c1", "block")});
  const auto hours = std::to_string(pgqueue::kVerdictKeptLeast.count());
  execute("UPDATE message_safety.verdicts SET decided_at = now() - interval '" + hours +
          " hours' + CASE WHEN pepper_id = 'p1' AND get_byte(subject_hash, 0) = 97 "
          "THEN interval '1 minute' ELSE interval '-1 minute' END");
  execute("SELECT message_safety.apply_retention(1, 0, 1, 1, 1, 1000)");
  EXPECT_EQ(value("SELECT get_byte(subject_hash, 0) FROM message_safety.verdicts"), "97");
}

TEST_F(VerdictRows, AreImmutable) {
  insert({row('a', "c1", "block")});
  insert({row('a', "c1", "allow")});
  EXPECT_EQ(find("r1").begin()->second.decision, "block");
}

TEST_F(VerdictRows, AreDeDuplicatedWithinABatch) {
  insert({row('b', "c1", "block"), row('a', "c1", "block"), row('b', "c1", "allow")});
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.verdicts"), "2");
}

TEST_F(VerdictRows, NoRowCanBeIndeterminate) {
  EXPECT_ANY_THROW(insert({row('a', "c1", "indeterminate")}));
}

TEST_F(VerdictRows, CrossedBatchesDoNotDeadlock) {
  std::vector<VerdictRow> rows;
  for (char c = 'a'; c <= 'z'; ++c) rows.push_back(row(c, "c1", "block"));
  std::vector<VerdictRow> reversed(rows.rbegin(), rows.rend());
  for (int round = 0; round < 10; ++round) {
    execute("DELETE FROM message_safety.verdicts");
    const std::jthread one([&] { insert(rows); });
    const std::jthread two([&] { insert(reversed); });
  }
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.verdicts"), "26");
}

}  // namespace han::tests
