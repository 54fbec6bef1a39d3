#include <gmock/gmock.h>

#include "pgqueue/error.h"
#include "safety/replay/verdict_stream.h"
#include "tests/safety/replay/replay_fixture.h"

namespace han::tests {

using safety::VerdictStream;
using safety::VerdictStreamOptions;

class VerdictStreamTest : public ReplayFixture {
 protected:
  struct Seen {
    std::size_t subjects = 0;
    std::size_t rows = 0;
    std::vector<std::string> evidence;
  };
  Seen read(VerdictStreamOptions options) {
    pgqueue::Connection connection(conninfo_, soon());
    VerdictStream stream(connection, std::move(options));
    Seen seen;
    while (const auto lot = stream.next()) {
      safety::for_each_subject(*lot, [&](const pgqueue::VerdictView& row, int count) {
        ++seen.subjects;
        seen.rows += static_cast<std::size_t>(count);
        seen.evidence.emplace_back(row.evidence.value_or(""));
      });
    }
    return seen;
  }
};

TEST_F(VerdictStreamTest, ATextsRowsStayTogetherWhereverAPageEnds) {
  std::vector<pgqueue::VerdictRow> rows;
  for (int n = 0; n < 20; ++n) {
    rows.push_back(text_row(n, kConfigA, replay_peppers().current, "old"));
    rows.push_back(text_row(n, kConfigB, replay_peppers().current, "new"));
    rows.push_back(text_row(n, std::string(32, 'e'), replay_peppers().current, "oldest"));
    rows.push_back(link_row(n));
  }
  insert(std::move(rows));
  age("config_version = '" + kConfigA + "'", "1 hour");
  age("config_version = '" + std::string(32, 'e') + "'", "2 hours");
  for (const std::int32_t page : {4, 5, 7, 100}) {
    const Seen seen = read({.page = {.rows = page}});
    EXPECT_EQ(seen.rows, 80U) << page;
    EXPECT_EQ(seen.subjects, 40U) << page;
    for (std::size_t i = 20; i < seen.evidence.size(); ++i) {
      EXPECT_NE(seen.evidence[i].find("\"new\""), std::string::npos);
    }
  }
}

TEST_F(VerdictStreamTest, BeginsAtAPlace) {
  insert({text_row(1), text_row(2), text_row(3), link_row(1), file_row(1)});
  EXPECT_EQ(read({.from = safety::PlaceToken::at("file", "")}).rows, 5U);
  EXPECT_EQ(read({.from = safety::PlaceToken::at("link", "")}).rows, 4U);
  EXPECT_EQ(read({.from = safety::PlaceToken::at("text", "\xff\xff\xff\xff")}).rows, 0U);
  // The hash that a place is made of is read again.
  const std::string last = value(
      "SELECT max(encode(subject_hash, 'hex')) FROM message_safety.verdicts "
      "WHERE kind = 'text'");
  EXPECT_EQ(read({.from = safety::PlaceToken::parse("text:" + last.substr(0, 8))}).rows, 1U);
}

TEST_F(VerdictStreamTest, PagesGrowWhileTheirEvidenceIsSmall) {
  const VerdictStreamOptions options{.page = {.rows = 1'000}, .page_bytes = 1 << 20};
  EXPECT_EQ(safety::next_page_rows(32, 32 * 300, options), 128);
  EXPECT_EQ(safety::next_page_rows(500, 500 * 300, options), 1'000);
  // Evidence that does not travel costs nothing.
  EXPECT_EQ(safety::next_page_rows(500, 0, options), 1'000);
  EXPECT_EQ(safety::next_page_rows(1'000, 4 << 20, options), 250);
  EXPECT_EQ(safety::next_page_rows(32, 32 << 17, options), 32);
}

TEST_F(VerdictStreamTest, TellsWhatTheDatabaseSays) {
  execute("ALTER TABLE message_safety.verdicts RENAME TO gone");
  pgqueue::Connection connection(conninfo_, soon());
  VerdictStream stream(connection, {});
  EXPECT_THROW(static_cast<void>(stream.next()), pgqueue::Error);
}

TEST_F(VerdictStreamTest, CanBeLeftBeforeItsEnd) {
  insert_texts(100);
  pgqueue::Connection connection(conninfo_, soon());
  VerdictStream stream(connection, {.page = {.rows = 5}});
  EXPECT_TRUE(stream.next().has_value());
}

}  // namespace han::tests
