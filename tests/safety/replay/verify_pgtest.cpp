#include <gmock/gmock.h>

#include "cache/dns_entry.h"
#include "cache/entry_seal.h"
#include "safety/base/hex.h"
#include "safety/replay/verify.h"
#include "tests/safety/replay/replay_fixture.h"

namespace han::tests {

using cache::KeyKind;
using safety::VerifyCounts;
using safety::VerifyReport;

class VerifyTest : public ReplayFixture {
 protected:
  static const VerifyCounts& texts(const VerifyReport& report) { return report.of(KeyKind::kText); }

  // A fault is found, ends in exit code 3, is repaired, and the next run is clean but for what is
  // missing; a rebuild brings that back.
  void expect_mended(std::uint64_t VerifyCounts::*count, std::uint64_t faults,
                     std::uint64_t found) {
    const auto before = verify();
    EXPECT_EQ(before.total().*count, faults);
    EXPECT_EQ(before.findings, found);
    const auto again = verify();
    EXPECT_EQ(again.total().*count, faults);
    const auto repaired = verify(true);
    EXPECT_EQ(repaired.total().*count, faults);
    EXPECT_EQ(repaired.total().repaired, faults);
    EXPECT_EQ(repaired.findings, 0U);
    rebuild();
    const auto after = verify();
    EXPECT_EQ(after.total().*count, 0U);
    EXPECT_EQ(after.total().missing, 0U);
    EXPECT_EQ(after.findings, 0U);
    EXPECT_EQ(texts(after).right, 5U);
  }
};

TEST_F(VerifyTest, AWarmCacheIsRight) {
  insert_texts(300);
  insert({file_row(1), link_row(1)});
  rebuild();
  const auto report = verify();
  EXPECT_TRUE(report.is_scanned);
  EXPECT_EQ(report.rows, 302U);
  EXPECT_EQ(texts(report).keys, 300U);
  EXPECT_EQ(report.total().right, 302U);
  EXPECT_EQ(report.total().missing, 0U);
  EXPECT_EQ(report.findings, 0U);
}

TEST_F(VerifyTest, AnEmptyCacheIsMissingWhatARebuildWouldWrite) {
  insert_texts(200);
  insert({text_row(500, kConfigA, retired_pepper()), file_row(1)});
  const auto report = verify();
  EXPECT_EQ(texts(report).missing, 200U);
  EXPECT_EQ(report.of(KeyKind::kVerdict).missing, 1U);
  EXPECT_EQ(report.findings, 0U);
  rebuild();
  EXPECT_EQ(verify().total().missing, 0U);
}

TEST_F(VerifyTest, FindsAndMendsOtherEvidence) {
  insert_texts(5);
  rebuild();
  set(text_key(1).str(), text_bytes(1, "other.rule"));
  expect_mended(&VerifyCounts::wrong, 1, 1);
}

TEST_F(VerifyTest, FindsAndMendsAForgedProof) {
  insert_texts(5);
  rebuild();
  auto entry = text_entry(1);
  entry.mac = std::string(64, '0');
  set(text_key(1).str(), cache::encode_entry(entry));
  expect_mended(&VerifyCounts::wrong, 1, 1);
}

TEST_F(VerifyTest, FindsAndMendsAVerdictThatWasNeverCommitted) {
  insert_texts(5);
  rebuild();
  set(text_key(77).str(), text_bytes(77));
  expect_mended(&VerifyCounts::wrong, 1, 1);
}

TEST_F(VerifyTest, FindsAndMendsGarbage) {
  insert_texts(5);
  rebuild();
  set(text_key(1).str(), "garbage");
  set(text_key(2).str(), "");
  // Of a schema that nobody reads any more.
  std::string old = text_bytes(3);
  old.replace(old.find(":1,"), 3, ":0,");
  set(text_key(3).str(), old);
  expect_mended(&VerifyCounts::undecodable, 3, 3);
}

TEST_F(VerifyTest, FindsAndMendsAValueOfAnotherSubject) {
  insert_texts(5);
  rebuild();
  set(text_key(1).str(), text_bytes(2));
  expect_mended(&VerifyCounts::foreign, 1, 1);
}

TEST_F(VerifyTest, FindsAndMendsAnOversizedValue) {
  insert_texts(5);
  rebuild();
  set(text_key(1).str(), std::string(cache::kValueBytesMax + 1, 'x'));
  // SPEC section 11 names the faults that end in exit code 3; this is none.
  expect_mended(&VerifyCounts::oversized, 1, 0);
}

// covers 000-V07
TEST_F(VerifyTest, FindsAndMendsAKeyWithoutATtl) {
  insert_texts(5);
  rebuild();
  redis_.ask({"PERSIST", text_key(1).str()});
  redis_.ask({"SET", "han:safety:rl:service:chat:5", "1"});
  expect_mended(&VerifyCounts::ttl_less, 2, 2);
}

TEST_F(VerifyTest, FindsAndMendsAValueThatIsNoString) {
  insert_texts(5);
  rebuild();
  redis_.ask({"DEL", text_key(1).str()});
  redis_.ask({"LPUSH", text_key(1).str(), "task"});
  redis_.ask({"EXPIRE", text_key(1).str(), "600"});
  EXPECT_EQ(verify().state(), 1U);
  expect_mended(&VerifyCounts::not_string, 1, 1);
}

// covers 000-S07
TEST_F(VerifyTest, FindsTaskAndLeaseStateAndLeavesItToTheOperator) {
  insert_texts(5);
  rebuild();
  set("han:safety:task:42", "queued");
  set("han:safety:lease:42", "worker-1");
  redis_.ask({"XADD", "han:safety:queue", "*", "task", "42"});
  redis_.ask({"SET", std::string(300, 'k'), "1"});
  const auto report = verify();
  EXPECT_EQ(report.alien, 4U);
  EXPECT_EQ(report.state(), 4U);
  EXPECT_EQ(report.findings, 4U);
  const auto repaired = verify(true);
  EXPECT_EQ(repaired.findings, 4U);
  EXPECT_EQ(repaired.total().repaired, 0U);
  EXPECT_EQ(redis_.ask({"EXISTS", "han:safety:task:42"}), "1");
}

TEST_F(VerifyTest, StaleIsWhatAnOlderRowSaysARetiredPepperOrTooLongATime) {
  insert({text_row(1, kConfigA, replay_peppers().current, "old"),
          text_row(1, kConfigB, replay_peppers().current, "new"), text_row(2),
          text_row(3, kConfigA, retired_pepper())});
  age("config_version = '" + kConfigA + "'", "1 hour");
  set(text_key(1).str(), text_bytes(1, "old"));
  set(text_key(2).str(), text_bytes(2), 49 * 3600);
  set(text_key(3, retired_pepper()).str(), text_bytes(3, "scam.gift", retired_pepper()));
  const auto report = verify(true);
  EXPECT_EQ(texts(report).stale, 3U);
  EXPECT_EQ(report.findings, 0U);
  // The one above the cap of its kind.
  EXPECT_EQ(report.total().repaired, 1U);
  EXPECT_EQ(ttl(text_key(2).str()), -2);
  EXPECT_EQ(texts(verify(true)).stale, 2U);
}

// covers 000-X07
TEST_F(VerifyTest, ARepairDeletesWhatLivesLongerThanAnyConfigAllows) {
  insert_texts(5);
  insert({link_row(1)});
  rebuild();
  redis_.ask({"EXPIRE", link_key(1).str(), "172801"});
  redis_.ask({"EXPIRE", text_key(1).str(), "172790"});  // at most the cap, and still too long
  redis_.ask({"SET", "han:safety:rl:service:chat:5", "1", "EX", "172900"});
  EXPECT_EQ(verify().findings, 0U);
  const auto report = verify(true);
  EXPECT_EQ(report.total().repaired, 2U);
  EXPECT_EQ(report.findings, 0U);
  EXPECT_EQ(ttl(link_key(1).str()), -2);
  EXPECT_EQ(ttl("han:safety:rl:service:chat:5"), -2);
  EXPECT_GT(ttl(text_key(1).str()), 0);
}

TEST_F(VerifyTest, ANewerSchemaStays) {
  insert_texts(1);
  set(text_key(0).str(), R"({"schema_version":2,"subject":"x"})");
  const auto report = verify(true);
  EXPECT_EQ(texts(report).newer_schema, 1U);
  EXPECT_EQ(report.findings, 0U);
  EXPECT_EQ(report.total().missing, 0U);
  EXPECT_EQ(redis_.ask({"DBSIZE"}), "1");
}

TEST_F(VerifyTest, WhatOnlyTheCacheHoldsIsUnbacked) {
  const std::string hash = safety::to_hex(safety::sha256("host"));
  cache::DnsEntry dns{.subject = hash,
                      .rrtype = "A",
                      .answer = cache::DnsAnswer::kAddresses,
                      .addresses = {"192.0.2.1"}};
  const cache::DnsKey dns_key(safety::sha256("host"), "A");
  set(dns_key.str(), cache::seal_entry(dns, replay_peppers().current), 600);
  set(link_key(1).str(), link_row(1).evidence);
  set("han:safety:rl:service:chat:5", "3");
  const auto report = verify(true);
  EXPECT_EQ(report.of(KeyKind::kDns).unbacked, 1U);
  EXPECT_EQ(report.of(KeyKind::kLink).unbacked, 1U);
  EXPECT_EQ(report.of(KeyKind::kRate).unbacked, 1U);
  EXPECT_EQ(report.findings, 0U);
  EXPECT_EQ(redis_.ask({"DBSIZE"}), "3");
  // An answer may live for 900 s in both layers together.
  redis_.ask({"EXPIRE", dns_key.str(), "1000"});
  EXPECT_EQ(verify().of(KeyKind::kDns).stale, 1U);
  set(dns_key.str(), "{}");
  EXPECT_EQ(verify().of(KeyKind::kDns).undecodable, 1U);
}

TEST_F(VerifyTest, ALinkWithARowIsComparedWithIt) {
  insert({link_row(1), link_row(2), file_row(1)});
  rebuild();
  EXPECT_EQ(verify().total().right, 3U);
  set(link_key(1).str(), link_row(2).evidence);
  set(file_key(1).str(), file_row(2).evidence);
  const auto report = verify();
  EXPECT_EQ(report.of(KeyKind::kLink).foreign, 1U);
  EXPECT_EQ(report.of(KeyKind::kVerdict).foreign, 1U);
}

TEST_F(VerifyTest, WithoutAScanOnlyWhatPostgresqlNamesIsLookedAt) {
  insert_texts(5);
  rebuild();
  set(text_key(1).str(), "garbage");
  redis_.ask({"DEL", text_key(2).str()});
  set("han:safety:task:42", "queued");
  set(text_key(77).str(), text_bytes(77));
  const auto report = verify(false, false);
  EXPECT_FALSE(report.is_scanned);
  EXPECT_EQ(texts(report).keys, 4U);
  EXPECT_EQ(texts(report).right, 3U);
  EXPECT_EQ(texts(report).undecodable, 1U);
  EXPECT_EQ(texts(report).missing, 1U);
  EXPECT_EQ(report.state(), 0U);
  EXPECT_EQ(report.findings, 1U);
  EXPECT_EQ(verify(true, false).total().repaired, 1U);
}

// The row is not believed by the live look-up either, which computed the verdict anew.
TEST_F(VerifyTest, ASoundValueWhoseRowCannotBeReadIsUnbacked) {
  auto row = text_row(1);
  row.evidence = "{}";
  insert({row});
  set(text_key(1).str(), text_bytes(1));
  EXPECT_EQ(texts(verify()).unbacked, 1U);
}

TEST_F(VerifyTest, WithoutPeppersIsTheSameButForProofs) {
  peppers_ = nullptr;
  insert({text_row(1), text_row(2, kConfigA, retired_pepper())});
  EXPECT_EQ(rebuild().counts.written, 2U);
  EXPECT_EQ(texts(verify()).right, 2U);
  set(text_key(1).str(), text_bytes(1, "other"));
  EXPECT_EQ(texts(verify()).wrong, 1U);
}

TEST_F(VerifyTest, ARateBoundsItAndItTellsHowFarItIs) {
  insert_texts(500);
  rebuild();
  redis_.ask({"DEL", text_key(7).str()});
  pgqueue::Connection database(conninfo_, soon());
  pgqueue::Connection lookups(conninfo_, soon());
  const auto scan = open_redis(redis_.ops_url());
  const safety::EntryReader reader(peppers_);
  const safety::RowJudge judge(reader, {});
  std::map<std::string, std::vector<double>> shares;
  std::chrono::nanoseconds pauses{0};
  safety::Verify verify({database, lookups, scan.get(), nullptr}, reader, judge,
                        {.keys_per_second = 100},
                        {.progress = [&](const std::string& step, double share,
                                         std::uint64_t) { shares[step].push_back(share); },
                         // Nobody waits here; what it would have waited is counted.
                         .wait =
                             [&](safety::Deadline until) {
                               pauses += until.at() - safety::system_clock().now();
                               return false;
                             }});
  EXPECT_EQ(verify.run().reason, safety::VerifyEnd::Reason::kDone);
  // 499 keys and 500 rows at 100 a second, less what the work itself took.
  EXPECT_GT(pauses, 8s);
  EXPECT_LE(pauses, 10s);
  EXPECT_EQ(texts(verify.report()).missing, 1U);
  for (const std::string step : {"keys", "verdicts"}) {
    EXPECT_TRUE(std::ranges::is_sorted(shares[step])) << step;
    ASSERT_FALSE(shares[step].empty()) << step;
    EXPECT_GT(shares[step].back(), 0.95) << step;
    EXPECT_LE(shares[step].back(), 1) << step;
  }
  EXPECT_EQ(shares["keys"].back(), 1);
  EXPECT_GT(shares["keys"].size(), 1U);
}

TEST_F(VerifyTest, ManyFaultsAmongManyKeysAreFoundInOneRun) {
  insert_texts(1'000);
  rebuild();
  for (int n = 0; n < 100; ++n) set(text_key(n * 10).str(), text_bytes(n * 10, "other"));
  const auto report = verify(true);
  EXPECT_EQ(texts(report).wrong, 100U);
  EXPECT_EQ(texts(report).right, 900U);
  EXPECT_EQ(texts(report).repaired, 100U);
  EXPECT_EQ(texts(report).missing, 100U);
  EXPECT_EQ(rebuild().counts.written, 100U);
  EXPECT_EQ(texts(verify()).right, 1'000U);
}

}  // namespace han::tests
