#include <gmock/gmock.h>

#include "pgqueue/verdict_pages.h"
#include "pgqueue/verdict_rows.h"
#include "tests/pgqueue/plan_fixture.h"

namespace han::tests {

using namespace pgqueue;
using ::testing::ElementsAre;

namespace {

std::string hash(char c) { return std::string(32, c); }

VerdictRow row(const std::string& kind, char subject, const std::string& config,
               const std::string& evidence) {
  return {{kind, hash(subject), "p1", "r1", config, ""}, "allow", evidence};
}

}  // namespace

class VerdictPages : public PlanFixture {
 protected:
  void insert(std::vector<VerdictRow> rows) {
    Connection connection(conninfo_, soon());
    Transaction transaction(connection);
    enqueue_verdicts(transaction, std::move(rows));
    transaction.commit(soon());
  }
  // The evidence of all pages, "|" between pages.
  std::vector<std::string> walk(const VerdictPageLimits& limits, VerdictPlace place = {}) {
    Connection connection(conninfo_, soon());
    std::vector<std::string> all;
    while (true) {
      const VerdictPage page = read_verdict_page(connection, "text", place, limits, soon());
      if (page.size() == 0) return all;
      for (int i = 0; i < page.size(); ++i) {
        all.emplace_back(page.row(i).evidence.value_or("(none)"));
      }
      place = page.end();
      all.emplace_back("|");
    }
  }
};

TEST_F(VerdictPages, WalkEveryRowOfAKindOnceInOrder) {
  insert({row("text", 'b', "c1", "b1"), row("text", 'a', "c2", "a2"), row("text", 'a', "c1", "a1"),
          row("text", 'c', "c1", "c1"), row("link", 'a', "c1", "l1")});
  EXPECT_THAT(walk({.rows = 2}), ElementsAre("a1", "a2", "|", "b1", "c1", "|"));
  EXPECT_THAT(walk({.rows = 3}), ElementsAre("a1", "a2", "b1", "|", "c1", "|"));
  EXPECT_THAT(walk({}, {.subject_hash = "b"}), ElementsAre("b1", "c1", "|"));
}

TEST_F(VerdictPages, LargeEvidenceDoesNotTravel) {
  insert({row("text", 'a', "c1", std::string(60, 'a')), row("text", 'b', "c1", "b")});
  EXPECT_THAT(walk({.evidence_bytes = 60}), ElementsAre(std::string(60, 'a'), "b", "|"));
  EXPECT_THAT(walk({.evidence_bytes = 59}), ElementsAre("(none)", "b", "|"));
}

TEST_F(VerdictPages, TellAgesByTheDatabasesClock) {
  insert({row("text", 'a', "c1", "old"), row("text", 'b', "c1", "new")});
  execute(
      "UPDATE message_safety.verdicts SET decided_at = clock_timestamp() - interval '1 hour' "
      "WHERE evidence = 'old'");
  Connection connection(conninfo_, soon());
  const auto page = read_verdict_page(connection, "text", {}, {}, soon());
  ASSERT_EQ(page.size(), 2);
  EXPECT_GE(page.row(0).age, std::chrono::hours(1));
  EXPECT_LT(page.row(0).age, std::chrono::hours(2));
  EXPECT_LT(page.row(1).age, std::chrono::hours(1));
  EXPECT_EQ(page.row(0).evidence_bytes, 3U);
  EXPECT_THAT(walk({.evidence_age = 30min}), ElementsAre("(none)", "new", "|"));
}

TEST_F(VerdictPages, KindsComeInOrder) {
  insert({row("text", 'a', "c1", "e"), row("link", 'a', "c1", "e"), row("file", 'a', "c1", "e")});
  Connection connection(conninfo_, soon());
  std::vector<std::string> kinds;
  for (auto kind = next_verdict_kind(connection, "", soon()); kind;
       kind = next_verdict_kind(connection, *kind, soon())) {
    kinds.push_back(*kind);
  }
  EXPECT_THAT(kinds, ElementsAre("file", "link", "text"));
}

TEST_F(VerdictPages, RowsOfASubjectComeNewestFirst) {
  insert({row("text", 'a', "c1", "a1")});
  insert({row("text", 'a', "c2", "a2"), row("text", 'b', "c1", std::string(200, 'b'))});
  execute(
      "UPDATE message_safety.verdicts SET decided_at = clock_timestamp() - interval '1 hour' "
      "WHERE config_version = 'c1'");
  Connection connection(conninfo_, soon());
  const std::vector<SubjectVersions> subjects = {{hash('x'), {}, {}, {}},
                                                 {hash('a'), "r1", {}, {}},
                                                 {hash('a'), "r2", {}, {}},
                                                 {hash('a'), {}, "c1", ""},
                                                 {hash('b'), {}, {}, {}}};
  const auto found = verdicts_of(connection, "text", subjects, 2, 100, soon());
  ASSERT_EQ(found.size(), 5U);
  EXPECT_TRUE(found[0].empty());
  ASSERT_EQ(found[1].size(), 2U);
  EXPECT_EQ(found[1][0].evidence, "a2");
  EXPECT_EQ(found[1][0].pepper_id, "p1");
  EXPECT_EQ(found[1][1].evidence, "a1");
  EXPECT_TRUE(found[2].empty());
  ASSERT_EQ(found[3].size(), 1U);
  EXPECT_EQ(found[3][0].evidence, "a1");
  ASSERT_EQ(found[4].size(), 1U);
  EXPECT_FALSE(found[4][0].evidence.has_value());
  EXPECT_EQ(verdicts_of(connection, "text", subjects, 1, 100, soon())[1].size(), 1U);
}

}  // namespace han::tests
