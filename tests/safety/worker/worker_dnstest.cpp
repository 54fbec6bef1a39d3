// Whole workers with links, a real name server or a lying one, and a real Redis.
#include <fstream>
#include <map>
#include <set>

#include "cache/dns_entry.h"
#include "safety/base/pepper.h"
#include "safety/link_subject.h"
#include "safety/subject_judge.h"
#include "safety/worker/worker.h"
#include "tests/safety/worker/snapshot_of.h"
#include "tests/safety/worker/worker_fixture.h"
#include "tests/support/await.h"
#include "tests/support/lying_dns.h"
#include "tests/support/nsd_server.h"

namespace han::tests {
namespace {

using Zone = std::map<std::string, std::string>;  // IPv4 addresses by host

class ZoneHosts final : public safety::HostResolver {
 public:
  explicit ZoneHosts(const Zone& zone) : zone_(zone) {}
  std::vector<safety::HostFacts> resolve(std::span<const std::string> hosts) override {
    std::vector<safety::HostFacts> all;
    for (const std::string& name : hosts) {
      safety::DnsFacts none;
      none.kind = safety::DnsFacts::Kind::kNoData;
      safety::DnsFacts a = none;
      if (const auto host = zone_.find(name); host != zone_.end()) {
        a.kind = safety::DnsFacts::Kind::kAddresses;
        a.addresses = {safety::IpAddress::parse(host->second).value()};
      }
      all.push_back({a, none});
    }
    return all;
  }

 private:
  const Zone& zone_;
};

}  // namespace

class WorkerDns : public WorkerFixture {
 protected:
  void SetUp() override {
    WorkerFixture::SetUp();
    write_config("");
  }
  // Lines of the section `links`.
  void write_config(const std::string& links) {
    std::ofstream(dir_.file("config.yaml")) << "schema: 1\nlinks: {dns: required" + links + "}\n";
  }
  std::unique_ptr<safety::Worker> start(const std::string& server, const std::string& more = "") {
    auto worker = make_worker("dns: {servers: ['" + server +
                              "'], timeout_ms: 5000, try_timeout_ms: 1000, tries: 3}\n" + more);
    worker->start();
    EXPECT_TRUE(await([&] {
      return worker->metrics_text().find("han_safety_redis_connects 0") == std::string::npos;
    }));
    return worker;
  }
  std::string dns_key(const std::string& host, const std::string& type) {
    const auto peppers = safety::load_peppers(dir_.file("pepper"));
    return cache::DnsKey(safety::host_hash(peppers.current.key, host), type).str();
  }
  // Milliseconds; -2: there is no such key.
  long pttl(const std::string& host, const std::string& type = "A") {
    return std::stol(redis_.ask({"PTTL", dns_key(host, type)}));
  }
  static std::string metric(safety::Worker& worker, const std::string& series) {
    const std::string text = worker.metrics_text();
    const auto at = text.find("\n" + series + " ");
    if (at == std::string::npos) return "";
    const auto begin = at + series.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  }
};

// SPEC section 6, on the clock of a real Redis.
TEST_F(WorkerDns, S15_S16_S17_AnAnswerLivesInRedisByItsOwnTime) {
  NsdServer nsd({{.name = "test",
                  .records = "target 3600 IN A 8.8.8.8\n"
                             "target 3600 IN AAAA 2606:4700::1\n"
                             "alias 20 IN CNAME target\n"
                             "long 5000 IN A 8.8.4.4\n"
                             "long 5000 IN AAAA 2606:4700::1\n"
                             "zero 0 IN A 8.8.4.4\n"
                             "only4 100 IN A 8.8.4.4\n",
                  .soa_ttl = 3600,
                  .soa_minimum = 30}});
  const auto worker = start(nsd.address());
  const auto ids = submit_links({"http://alias.test/", "http://long.test/", "http://zero.test/",
                                 "http://only4.test/", "http://none.test/"});
  EXPECT_TRUE(await_drained());
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(decision_of(ids[i]), "allow") << i;
  EXPECT_EQ(decision_of(ids[4]), "monitor rule");  // no such name
  EXPECT_TRUE(await([&] { return pttl("none.test", "AAAA") > 0; }));
  // CNAME 20 and A 3600 live 20 s.
  EXPECT_LE(pttl("alias.test"), 20'000);
  EXPECT_GT(pttl("alias.test"), 0);
  // 5000 is cut to 900.
  EXPECT_LE(pttl("long.test"), 900'000);
  EXPECT_GT(pttl("long.test"), 800'000);
  // 0 is used once.
  EXPECT_EQ(pttl("zero.test"), -2);
  // NODATA and NXDOMAIN live by the SOA's minimum.
  EXPECT_LE(pttl("only4.test", "AAAA"), 30'000);
  EXPECT_GT(pttl("only4.test", "AAAA"), 0);
  EXPECT_LE(pttl("none.test"), 30'000);
  EXPECT_GT(pttl("none.test"), 0);
  // The chain's name stands there as HMACs only.
  EXPECT_EQ(redis_.ask({"GET", dns_key("alias.test", "A")}).find("target"), std::string::npos);
}

TEST_F(WorkerDns, S16_NoDataWithoutSoaIsNotCached) {
  LyingDns lying([](const DnsQuery& query) {
    DnsReply reply(query);
    if (query.type == kDnsA) reply.address(query.name, 100, "8.8.8.8");
    return std::vector<std::string>{reply.bytes()};
  });
  const auto worker = start(lying.address());
  const auto ids = submit_links({"http://nosoa.test/"});
  EXPECT_TRUE(await_drained());
  EXPECT_EQ(decision_of(ids[0]), "allow");
  EXPECT_TRUE(await([&] { return pttl("nosoa.test") > 0; }));
  EXPECT_EQ(pttl("nosoa.test", "AAAA"), -2);
}

// invariant I10: only the answer is cached
TEST_F(WorkerDns, AnotherPolicyClassifiesTheSameAnswerAnewAndAsksNobody) {
  LyingDns lying([](const DnsQuery& query) {
    DnsReply reply(query);
    if (query.type == kDnsA) reply.address(query.name, 600, "10.1.2.3");
    if (query.type == kDnsAaaa) reply.soa("test", 600, 600);
    return std::vector<std::string>{reply.bytes()};
  });
  const auto judge = [&] {
    const auto worker = start(lying.address());
    const auto ids = submit_links({"http://inner.test/"});
    EXPECT_TRUE(await_drained());
    EXPECT_TRUE(await([&] { return pttl("inner.test") > 0 && pttl("inner.test", "AAAA") > 0; }));
    worker->stop();
    return decision_of(ids[0]);
  };
  EXPECT_EQ(judge(), "block rule");
  EXPECT_EQ(lying.query_count("inner.test"), 2U);
  write_config(", networks: {allow: [10.1.0.0/16]}");
  EXPECT_EQ(judge(), "allow");
  write_config(", actions: {address: monitor}");
  EXPECT_EQ(judge(), "monitor rule");
  EXPECT_EQ(lying.query_count("inner.test"), 2U);
}

// The same answer from the local cache, for its own time at most.
TEST_F(WorkerDns, S15_AZeroTtlIsAskedForEachTime) {
  LyingDns lying([](const DnsQuery& query) {
    DnsReply reply(query);
    if (query.type == kDnsA)
      reply.address(query.name, query.name == "zero.test" ? 0 : 60, "8.8.8.8");
    if (query.type == kDnsAaaa) reply.soa("test", 600, 600);
    return std::vector<std::string>{reply.bytes()};
  });
  const auto worker = start(lying.address());
  for (int i = 0; i < 3; ++i) {
    submit_links({"http://zero.test/", "http://kept.test/" + std::to_string(i)});
    EXPECT_TRUE(await_drained());
  }
  EXPECT_EQ(lying.query_count("zero.test"), 4U);  // A three times, AAAA once
  EXPECT_EQ(lying.query_count("kept.test"), 2U);
  EXPECT_EQ(metric(*worker, "han_safety_dns_queries_total{kind=\"addresses\"}"), "4");
}

// What a worker commits about a link is what is judged offline; URLs in it live in the caches only.
TEST_F(WorkerDns, UrlsInALinkAreJudgedAsOffline) {
  const Zone zone = {
      {"good.test", "8.8.8.8"}, {"inner.test", "10.1.2.3"}, {"other.test", "8.8.4.4"}};
  LyingDns lying([&zone](const DnsQuery& query) {
    DnsReply reply(query);
    const auto host = zone.find(query.name);
    if (query.type == kDnsA && host != zone.end()) reply.address(query.name, 600, host->second);
    if (query.type == kDnsAaaa || host == zone.end()) reply.soa("test", 600, 600);
    return std::vector<std::string>{reply.bytes()};
  });
  const std::vector<std::string> urls = {
      "http://good.test/?u=http%3A%2F%2Finner.test%2Fa",
      "http://good.test/?u=http://other.test/",
      "http://good.test/#http://inner.test/",
      "http://good.test/#",
      "http://good.test/?u=http%3A%2F%2Fempty.test%2F",
      "http://good.test/?u=//127.0.0.1/",
      "http://good.test/?u=http%2525253A%2525252F%2525252Fother.test"};
  const auto worker = start(lying.address());
  const auto ids = submit_links(urls);
  EXPECT_TRUE(await_drained());

  ZoneHosts hosts(zone);
  const safety::SubjectJudge offline(
      safety::Bundle::load(dir_.file("rules.yaml"), test_day()),
      safety::load_config(dir_.file("config.yaml")),
      std::make_shared<const safety::PepperSet>(safety::load_peppers(dir_.file("pepper"))), &hosts);
  std::set<std::string> decisions;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    const safety::Verdict verdict = offline.judge_link(urls[i]).verdict;
    std::string expected(to_string(verdict.decision));
    decisions.insert(expected);
    if (!verdict.reason.empty()) expected += " " + verdict.reason;
    EXPECT_EQ(decision_of(ids[i]), expected) << urls[i];
  }
  EXPECT_EQ(decisions.size(), 4U);
  EXPECT_EQ(lying.query_count("inner.test"), 2U);
  EXPECT_EQ(value("SELECT count(DISTINCT rules_version) FROM message_safety.results"), "1");
  // Of five fetch identities four were decided; their URLs have entries, and no rows.
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.verdicts"), "5");
  EXPECT_TRUE(await([&] {
    return redis_.ask({"EVAL", "return #redis.call('KEYS','han:safety:link:*')", "0"}) == "10";
  }));
}

// SPEC section 14, invariants I4 and I5: silent resolvers cost time, and no verdict.
TEST_F(WorkerDns, SilentResolversHoldLinksUntilTheyAnswer) {
  LyingDns lying([](const DnsQuery&) { return std::vector<std::string>{}; });
  const auto worker =
      make_worker("dns: {servers: ['" + lying.address() +
                  "'], timeout_ms: 200, try_timeout_ms: 100, tries: 1}\nattempts_max: 2\n");
  worker->start();
  std::vector<std::string> urls;
  for (int i = 0; i < 5; ++i) urls.push_back("http://h" + std::to_string(i) + ".test/");
  const auto ids = submit_links(urls);
  // Until it is known that nobody answers, a name may be charged.
  const auto is_degraded = [&] {
    return worker->readiness().text.find("dns: degraded") != std::string::npos;
  };
  EXPECT_TRUE(await(is_degraded));
  const auto others = submit_texts({"good morning", "http://10.0.0.1/", "see http://h0.test/"});
  EXPECT_TRUE(await([&] {
    return value("SELECT count(*) FROM message_safety.safety_tasks WHERE delays >= 2") == "6";
  }));
  EXPECT_TRUE(is_degraded());
  EXPECT_TRUE(worker->readiness().is_ready);
  EXPECT_EQ(metric(*worker, "han_safety_dns_up"), "0");
  EXPECT_EQ(decision_of(others[0]), "allow");
  EXPECT_EQ(decision_of(others[1]), "block rule");
  // More often than there are attempts, and none was charged.
  EXPECT_EQ(
      value("SELECT count(*) || ' ' || coalesce(max(attempt) FILTER (WHERE state = 'queued'), "
            "0) FROM message_safety.safety_tasks"),
      "6 0");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.results"), "2");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.verdicts WHERE kind = 'link'"), "0");
  lying.set_script([](const DnsQuery& query) {
    DnsReply reply(query);
    if (query.type == kDnsA) reply.address(query.name, 60, "8.8.8.8");
    if (query.type == kDnsAaaa) reply.soa("test", 60, 60);
    return std::vector<std::string>{reply.bytes()};
  });
  EXPECT_TRUE(await([&] {
    execute("UPDATE message_safety.safety_tasks SET run_at = clock_timestamp() WHERE parked");
    return value("SELECT count(*) FROM message_safety.safety_tasks") == "0";
  }));
  for (const auto& id : ids) EXPECT_EQ(decision_of(id), "allow");
  EXPECT_EQ(decision_of(others[2]), "allow");
  EXPECT_NE(worker->readiness().text.find("dns: up"), std::string::npos);
}

TEST_F(WorkerDns, ANameWhoseServersFailIsADeadLetterInTheEnd) {
  LyingDns lying([](const DnsQuery& query) {
    DnsReply reply(query);
    if (query.name == "broken.test") reply.rcode(2);
    return std::vector<std::string>{reply.bytes()};
  });
  const auto worker = start(lying.address(), "attempts_max: 2\n");
  const auto ids = submit_links({"http://broken.test/"});
  EXPECT_TRUE(await([&] {
    execute("UPDATE message_safety.safety_tasks SET run_at = clock_timestamp() WHERE parked");
    return value("SELECT count(*) FROM message_safety.safety_tasks") == "0";
  }));
  EXPECT_EQ(decision_of(ids[0]), "indeterminate dns_servfail");
  EXPECT_EQ(value("SELECT state || ' ' || disposition FROM message_safety.results"), "dead hold");
}

// The layers of a link's stable part, and one row for a link that is a task.
TEST_F(WorkerDns, ALinkComesFromTheNearestLayer) {
  NsdServer nsd({{.name = "test", .records = "good 600 IN A 8.8.8.8\n", .soa_minimum = 600}});
  const auto judge = [&] {
    const auto worker = start(nsd.address());
    submit_links({"http://good.test/a"});
    EXPECT_TRUE(await_drained());
    worker->stop();
  };
  judge();
  EXPECT_EQ(layers(), "computed 1");
  judge();
  EXPECT_EQ(layers(), "computed 1, redis 1");
  redis_.ask({"FLUSHALL"});
  judge();
  EXPECT_EQ(layers(), "computed 1, postgres 1, redis 1");
  const auto worker = start(nsd.address());
  submit_links({"http://good.test/a"});
  EXPECT_TRUE(await_drained());
  submit_links({"http://good.test/a"});
  EXPECT_TRUE(await_drained());
  EXPECT_EQ(layers(), "computed 1, local 1, postgres 1, redis 2");
  EXPECT_EQ(value("SELECT count(*) || ' ' || min(kind) FROM message_safety.verdicts"), "1 link");
  // What is in Redis: one link, two answers; no URL, no host.
  EXPECT_EQ(redis_.ask({"DBSIZE"}), "3");
}

// SPEC section 7: a bundle is taken up within seconds, between two batches.
TEST_F(WorkerDns, AListThatIsAddedCountsWithoutARestart) {
  NsdServer nsd({{.name = "test", .records = "www.evil 600 IN A 8.8.8.8\n", .soa_minimum = 600}});
  const auto worker = start(nsd.address(), "bundle_poll_ms: 20\n");
  const std::string before = worker->rules_version();
  const auto first = submit_texts({"go to http://www.evil.test/"});
  EXPECT_TRUE(await_drained());
  EXPECT_EQ(decision_of(first[0]), "allow");
  std::ofstream(dir_.file("new")) << R"(schema: 1
rules:
- {id: host.evil, kind: url-host, pattern: evil.test, severity: 90, action: block,
   mode: enforce, categories: [phishing], owner: trust, reason: phishing,
   match: ["http://www.evil.test/"], no_match: ["http://good.test/"]}
)";
  std::filesystem::rename(dir_.file("new"), dir_.file("rules.yaml"));
  worker->reload();
  EXPECT_TRUE(await([&] { return worker->rules_version() != before; }));
  const auto second = submit_texts({"go to http://www.evil.test/"});
  EXPECT_TRUE(await_drained());
  EXPECT_EQ(decision_of(second[0]), "block rule");
}

}  // namespace han::tests
