// Links of one batch, tasks and those found in texts, with a resolver of the test's own.
#include <map>

#include "safety/worker/batch_judge.h"
#include "tests/safety/worker/snapshot_of.h"
#include "tests/safety/worker/worker_fixture.h"
#include "tests/support/await.h"

namespace han::tests {
namespace {

using dns::Answer;
using dns::Failure;

dns::Resolution found(const std::string& text) {
  return Answer{.kind = Answer::Kind::kAddresses,
                .addresses = {safety::IpAddress::parse(text).value()},
                .ttl = std::chrono::seconds(60)};
}

}  // namespace

class BatchJudgeLinks : public WorkerFixture {
 protected:
  void SetUp() override {
    WorkerFixture::SetUp();
    lookup_ = std::make_unique<safety::BatchLookup>(
        peppers_, nullptr, *pool_,
        [this](std::span<const dns::Question> questions, safety::Deadline) {
          if (on_resolve_) on_resolve_();
          std::vector<dns::Resolution> outcomes;
          for (const dns::Question& question : questions) {
            ++asked_[question.host];
            const bool is_v6 = question.type == dns::RecordType::kAaaa;
            const auto& zone = is_v6 ? aaaa_ : a_;
            const auto at = zone.find(question.host);
            outcomes.push_back(at != zone.end() ? at->second : dns::Resolution(Answer{.ttl = 30s}));
          }
          return outcomes;
        },
        metrics_, safety::BatchLookupOptions{});
    snapshots_ =
        std::make_unique<safety::SnapshotHolder>(snapshot_of(dir_.file("rules.yaml"), peppers_));
  }
  // Judges what waits in one batch.
  void process() {
    const auto tasks = claim(100);
    leases_.add(tasks, safety::system_clock().now() + 30s);
    safety::Committer committer(*queue_, leases_, metrics_, 5000ms);
    safety::BatchSizer sizer({});
    safety::CompletionBuffer completions(committer, metrics_, {});
    completions.start();
    safety::BatchJudge judge({*snapshots_, peppers_, 65'536, *queue_, *lookup_, completions, sizer,
                              leases_, metrics_, 5000ms});
    judge.process({tasks, safety::system_clock().now()});
    completions.stop();
    EXPECT_EQ(leases_.size(), 0U);
  }
  std::string rules_of(const pgqueue::Uuid& id) {
    return value(
        "SELECT array_to_string(rules, ',') FROM message_safety.results WHERE task_id = '" +
        id.to_string() + "'");
  }
  // Decision and number of each kind's rows.
  std::string rows() {
    return value(
        "SELECT coalesce(string_agg(kind || ' ' || decision || ' ' || n, ', ' ORDER BY kind, "
        "decision), '') FROM (SELECT kind, decision, count(*) AS n FROM message_safety.verdicts "
        "GROUP BY kind, decision) x");
  }

  safety::PepperSet peppers_ = safety::parse_peppers("p1 " + std::string(64, 'a'));
  safety::Metrics metrics_;
  safety::LeaseTable leases_;
  std::map<std::string, dns::Resolution> a_;
  std::map<std::string, dns::Resolution> aaaa_;
  std::map<std::string, int> asked_;
  std::function<void()> on_resolve_;
  std::unique_ptr<safety::BatchLookup> lookup_;
  std::unique_ptr<safety::SnapshotHolder> snapshots_;
};

TEST_F(BatchJudgeLinks, S14_ALinkIsJudgedByItselfAndByWhatItsHostResolvesTo) {
  a_["good.test"] = found("8.8.8.8");
  a_["bad.test"] = Answer{.kind = Answer::Kind::kAddresses,
                          .addresses = {safety::IpAddress::parse("8.8.8.8").value(),
                                        safety::IpAddress::parse("10.0.0.1").value()},
                          .ttl = 60s};
  a_["gone.test"] = Answer{.kind = Answer::Kind::kNoSuchName, .ttl = 30s};
  aaaa_["gone.test"] = a_["gone.test"];
  const auto ids = submit_links({"https://good.test/a", "https://bad.test/", "http://gone.test/",
                                 "http://127.0.0.1/", "http://a b/", "javascript:alert(1)",
                                 "http://x/" + std::string(70'000, 'a')});
  process();
  EXPECT_EQ(decision_of(ids[0]), "allow");
  EXPECT_EQ(decision_of(ids[1]), "block rule");
  EXPECT_EQ(rules_of(ids[1]), "link.address.private");
  EXPECT_EQ(decision_of(ids[2]), "monitor rule");
  EXPECT_EQ(decision_of(ids[3]), "block rule");
  EXPECT_EQ(rules_of(ids[4]), "link.invalid");
  EXPECT_EQ(rules_of(ids[5]), "link.scheme");
  EXPECT_EQ(decision_of(ids[6]), "indeterminate limit");
  // The stable parts: what the addresses say is in none of them.
  EXPECT_EQ(rows(), "link allow 3, link block 3");
  EXPECT_EQ(asked_.size(), 3U);
}

TEST_F(BatchJudgeLinks, LinksOfATextJoinItsVerdict) {
  a_["good.test"] = found("8.8.8.8");
  a_["bad.test"] = found("192.168.0.1");
  const auto ids =
      submit_texts({"see http://good.test/", "see http://good.test/ or http://bad.test",
                    "a casino: http://good.test/x"});
  process();
  EXPECT_EQ(decision_of(ids[0]), "allow");
  EXPECT_EQ(decision_of(ids[1]), "block rule");
  EXPECT_EQ(rules_of(ids[1]), "link.address.private");
  EXPECT_EQ(rules_of(ids[2]), "spam.casino");
  // A text's row is about the text; a link of a text has none.
  EXPECT_EQ(rows(), "text allow 2, text monitor 1");
  // Each host is asked about once a type.
  EXPECT_EQ(asked_, (std::map<std::string, int>{{"bad.test", 2}, {"good.test", 2}}));
  asked_.clear();
  submit_texts({"again http://good.test/"});
  process();
  EXPECT_TRUE(asked_.empty());
}

TEST_F(BatchJudgeLinks, UrlsInALinkAreJudgedWithIt) {
  a_["good.test"] = found("8.8.8.8");
  a_["bad.test"] = found("192.168.0.1");
  a_["loop.test"] = Failure::kLoop;
  aaaa_["loop.test"] = Failure::kLoop;
  const std::string good = "http://good.test/?u=";
  std::string many = good;
  for (int i = 0; i < 200; ++i) many += "&u=http://8.8.8.8/" + std::to_string(i);
  const auto ids =
      submit_links({good + "http%3A%2F%2Fgood.test%2F1", good + "http%3A%2F%2Fbad.test",
                    good + "http://127.0.0.1/", good + "http://loop.test/", many,
                    "http://good.test/#http://bad.test/", "http://good.test/#",
                    good + "http%3A%2F%2Fbad.test", "http://a b/?u=http://bad.test/"});
  process();
  EXPECT_EQ(decision_of(ids[0]), "allow");
  EXPECT_EQ(decision_of(ids[1]), "block rule");
  EXPECT_EQ(rules_of(ids[1]), "link.address.private");
  EXPECT_EQ(rules_of(ids[2]), "link.address.loopback");
  EXPECT_EQ(decision_of(ids[3]), "indeterminate dns_loop");
  EXPECT_EQ(decision_of(ids[4]), "indeterminate limit");
  EXPECT_EQ(decision_of(ids[5]), "block rule");
  EXPECT_EQ(decision_of(ids[6]), "allow");
  EXPECT_EQ(decision_of(ids[7]), "block rule");
  EXPECT_EQ(rules_of(ids[8]), "link.address.private,link.invalid");
  // Rows are of the links of tasks alone, and say nothing of what they hold.
  EXPECT_EQ(rows(), "link allow 4, link block 1");
  EXPECT_EQ(asked_,
            (std::map<std::string, int>{{"bad.test", 2}, {"good.test", 2}, {"loop.test", 2}}));
}

// Row 16: whoever answers first, the outer host alone decides nothing.
TEST_F(BatchJudgeLinks, S16_ALinkWaitsForTheHostsOfTheUrlsInIt) {
  a_["good.test"] = found("8.8.8.8");
  a_["slow.test"] = Failure::kServfail;
  aaaa_["slow.test"] = Failure::kServfail;
  const auto ids = submit_links({"http://good.test/?u=http%3A%2F%2Fslow.test%2F"});
  process();
  EXPECT_EQ(value("SELECT last_failure || ' ' || attempt FROM message_safety.safety_tasks"),
            "dns_servfail 1");
  EXPECT_EQ(rows(), "");
  a_["slow.test"] = found("10.0.0.1");
  execute("UPDATE message_safety.safety_tasks SET run_at = clock_timestamp(), parked = false");
  process();
  EXPECT_EQ(decision_of(ids[0]), "block rule");
  EXPECT_EQ(rows(), "link allow 1");
}

// A link that was committed with a text, or inside of another link, gets its row with its own task.
TEST_F(BatchJudgeLinks, EachTaskOfALinkHasItsRow) {
  a_["good.test"] = found("8.8.8.8");
  submit_texts({"see http://good.test/1"});
  submit_links({"http://good.test/?u=http://good.test/2"});
  process();
  EXPECT_EQ(rows(), "link allow 1, text allow 1");
  submit_links(
      {"http://good.test/1", "http://good.test/2", "http://good.test/?u=http://good.test/2"});
  process();
  EXPECT_EQ(rows(), "link allow 3, text allow 1");
}

// row 13
TEST_F(BatchJudgeLinks, S13_ALinkInDisguiseIsJudgedAndMarked) {
  a_["good.test"] = found("8.8.8.8");
  a_["bad.test"] = found("10.0.0.1");
  const auto ids =
      submit_texts({"hxxp://good[.]test/", "hxxp://bad[.]test/", "the docs: http://good.test/"});
  process();
  EXPECT_EQ(decision_of(ids[0]), "monitor rule");
  EXPECT_EQ(rules_of(ids[0]), "link.obfuscated");
  EXPECT_EQ(decision_of(ids[1]), "block rule");
  EXPECT_EQ(decision_of(ids[2]), "allow");
}

TEST_F(BatchJudgeLinks, S10_AReadingWithoutAHostOfTheDnsIsNotJudged) {
  a_["good.test"] = found("8.8.8.8");
  const auto ids = submit_texts({"http://good.test\uff0cnext", "http://good.test/\uff0cnext"});
  process();
  EXPECT_EQ(decision_of(ids[0]), "allow");
  EXPECT_EQ(decision_of(ids[1]), "allow");
  EXPECT_EQ(asked_, (std::map<std::string, int>{{"good.test", 2}}));
}

TEST_F(BatchJudgeLinks, MoreLinksThanMayBeIsIndeterminate) {
  std::string text;
  for (int i = 0; i < 250; ++i) text += "http://127.0.0." + std::to_string(i) + "/ ";
  const auto ids = submit_texts({"http://8.8.8.8/ " +
                                     [] {
                                       std::string many;
                                       for (int i = 0; i < 250; ++i)
                                         many += "http://8.8.8.8/" + std::to_string(i) + " ";
                                       return many;
                                     }(),
                                 text});
  process();
  EXPECT_EQ(decision_of(ids[0]), "indeterminate limit");
  EXPECT_EQ(decision_of(ids[1]), "block rule");
}

// invariant I4, row 16
TEST_F(BatchJudgeLinks, S16_AnAnswerThatDidNotComeIsRetriedAndNeverAllowed) {
  a_["half.test"] = found("8.8.8.8");
  aaaa_["half.test"] = Failure::kServfail;
  a_["halfbad.test"] = Failure::kServfail;
  aaaa_["halfbad.test"] = found("fd00::1");
  const auto ids = submit_links({"http://half.test/", "http://halfbad.test/"});
  process();
  EXPECT_EQ(decision_of(ids[1]), "block rule");  // the half that came blocks
  EXPECT_EQ(value("SELECT last_failure || ' ' || attempt FROM message_safety.safety_tasks"),
            "dns_servfail 1");
  EXPECT_EQ(rows(), "link allow 1");
  aaaa_["half.test"] = Answer{.ttl = 30s};
  execute("UPDATE message_safety.safety_tasks SET run_at = clock_timestamp(), parked = false");
  process();
  EXPECT_EQ(decision_of(ids[0]), "allow");
}

TEST_F(BatchJudgeLinks, WhatAskingAgainCannotChangeIsFinished) {
  a_["loop.test"] = Failure::kLoop;
  aaaa_["loop.test"] = Failure::kLoop;
  a_["long.test"] = Failure::kChain;
  aaaa_["long.test"] = Failure::kChain;
  const auto links = submit_links({"http://loop.test/", "http://long.test/"});
  const auto texts = submit_texts({"see http://loop.test/", "a casino http://long.test/"});
  process();
  EXPECT_EQ(decision_of(links[0]), "indeterminate dns_loop");
  EXPECT_EQ(decision_of(links[1]), "indeterminate dns_chain");
  EXPECT_EQ(decision_of(texts[0]), "indeterminate dns_loop");
  EXPECT_EQ(decision_of(texts[1]), "indeterminate dns_chain");
  EXPECT_EQ(value("SELECT string_agg(DISTINCT disposition, ',') FROM message_safety.results"),
            "hold");
  EXPECT_EQ(rows(), "");
}

// Dead resolvers are not the tasks' fault: the attempt is refunded.
TEST_F(BatchJudgeLinks, DeadResolversChargeNobody) {
  std::vector<std::string> urls;
  for (int i = 0; i < 5; ++i) {
    const std::string host = "h" + std::to_string(i) + ".test";
    a_[host] = Failure::kTimeout;
    aaaa_[host] = Failure::kTimeout;
    urls.push_back("http://" + host + "/");
  }
  submit_links(urls);
  const auto text = submit_texts({"good morning"});
  process();
  EXPECT_TRUE(lookup_->is_resolver_down());
  EXPECT_EQ(decision_of(text[0]), "allow");
  EXPECT_EQ(value("SELECT count(*) || ' ' || max(attempt) || ' ' || max(last_failure) "
                  "FROM message_safety.safety_tasks"),
            "5 0 dns_timeout");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results WHERE decision = 'allow'"), "1");
}

// One slow name delays those that ask for it, and no others.
TEST_F(BatchJudgeLinks, WhatDoesNotWaitForTheDnsIsCommittedBefore) {
  a_["good.test"] = found("8.8.8.8");
  submit_texts({"good morning", "a casino", "http://127.0.0.1/", "see http://good.test/"});
  bool was_committed = false;
  on_resolve_ = [&] {
    was_committed =
        await([&] { return value("SELECT count(*) FROM message_safety.results") == "3"; });
  };
  process();
  EXPECT_TRUE(was_committed);
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "4");
}

// The whole of a batch is judged under one bundle.
TEST_F(BatchJudgeLinks, ABundleThatComesMeanwhileCountsFromTheNextBatch) {
  a_["good.test"] = found("8.8.8.8");
  on_resolve_ = [&] { snapshots_->set(empty_snapshot(peppers_)); };
  const auto first = submit_texts({"a casino http://good.test/"});
  process();
  EXPECT_EQ(decision_of(first[0]), "monitor rule");
  const auto second = submit_texts({"a casino http://good.test/"});
  process();
  EXPECT_EQ(decision_of(second[0]), "allow");
  EXPECT_EQ(value("SELECT count(DISTINCT rules_version) FROM message_safety.results"), "2");
}

}  // namespace han::tests
