// The hot cache with all kinds of keys in one call.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cache/entry_seal.h"
#include "cache/hot_cache.h"
#include "tests/cache/entry_samples.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/fake_clock.h"
#include "tests/support/redis_server.h"
#include "tests/support/tcp_gate.h"

namespace han::tests {
namespace {

using namespace cache;
using safety::Deadline;
using std::chrono::milliseconds;
using std::chrono::seconds;

// What is judged in these tests; none of it may be found in Redis.
const std::string kText = "zebra gift card";
const std::string kUrl = "https://zebra.example/?id=zebra";
const std::string kHost = "zebra.example";
const std::string kFile = "zebra content";

// Keys and entries of one text, file, link and host, sealed.
struct Batch {
  explicit Batch(const safety::Clock& clock) {
    text_entry.subject = std::string(texts[0].analysis_hash());
    file_entry.subject = std::string(files[0].content_hash());
    link_entry.subject = std::string(links[0].url_hash());
    host_entry.subject = std::string(hosts[0].host_hash());
    host_entry.chain = {{safety::to_hex(key.mac("dns", "cdn.zebra.example")),
                         safety::to_hex(key.mac("dns", kHost))}};
    host_entry.chain_length = 1;
    live(clock, seconds(600));
    text_writes = {{texts[0], seal_entry(text_entry, peppers.current)}};
    file_writes = {{files[0], seal_entry(file_entry, peppers.current)}};
    link_writes = {{links[0], seal_entry(link_entry, peppers.current)}};
  }

  // The host's answer lives as long as that.
  void live(const safety::Clock& clock, seconds life) {
    const auto end = clock.wall_now().time_since_epoch() + life;
    host_entry.expires_at_ms = std::chrono::duration_cast<milliseconds>(end).count();
    host_writes = {{hosts[0], seal_entry(host_entry, peppers.current), life}};
  }

  HotKeys keys() const { return {texts, files, links, hosts}; }
  HotWrites writes() const { return {text_writes, file_writes, link_writes, host_writes}; }
  std::vector<std::string> names() const {
    return {texts[0].str(), files[0].str(), links[0].str(), hosts[0].str()};
  }

  safety::PepperSet peppers = safety::parse_peppers("p1 " + std::string(64, '1') + "\n");
  const safety::HmacKey& key = peppers.current.key;
  std::vector<TextKey> texts = {{key.mac("text", kText), kSampleVersion}};
  std::vector<VerdictKey> files = {{safety::sha256(kFile), kSampleVersion, kOtherVersion}};
  std::vector<LinkKey> links = {{key.mac("link", kUrl), kSampleVersion, kOtherVersion}};
  std::vector<DnsKey> hosts = {{key.mac("dns", kHost), "AAAA"}};
  TextEntry text_entry = sample_text_entry();
  FileEntry file_entry = sample_file_entry();
  LinkEntry link_entry = sample_link_entry();
  DnsEntry host_entry = sample_dns_entry();
  std::vector<TextWrite> text_writes;
  std::vector<WriteOf<FileEntry>> file_writes;
  std::vector<WriteOf<LinkEntry>> link_writes;
  std::vector<DnsWrite> host_writes;
};

PoolOptions options_for(const std::string& url) {
  PoolOptions options;
  options.endpoint = RedisEndpoint::fixed(RedisUrl::parse(url));
  options.size = 1;
  return options;
}

class HotKinds : public testing::Test {
 protected:
  void start(RedisServerOptions options = {}) {
    server_ = std::make_unique<RedisServer>(std::move(options));
    connect(server_->url());
  }

  void connect(const std::string& url) {
    hot_.reset();
    pool_ = std::make_unique<Pool>(options_for(url));
    pool_->start();
    hot_ = std::make_unique<HotCache>(*pool_, clock_);
    ASSERT_TRUE(pool_->wait_connected(late()));
  }

  HotFound get(Deadline deadline = late()) { return hot_->get(batch_.keys(), ids_, deadline); }
  PutOutcome put(const HotTtls& ttls = {}, Deadline deadline = late()) {
    return hot_->put(batch_.writes(), ttls, deadline);
  }
  LookupOf<DnsEntry> get_host() {
    return hot_->get({.texts = {}, .files = {}, .links = {}, .hosts = batch_.hosts}, ids_, late())
        .hosts.at(0);
  }
  std::int64_t pttl(const std::string& key) const {
    return std::stoll(server_->ask({"PTTL", key}));
  }
  HotKindStats stats(KeyKind kind) const {
    return hot_->stats().kinds.at(static_cast<std::size_t>(kind));
  }

  FakeClock clock_;
  Batch batch_{clock_};
  const std::vector<std::string> ids_ = pepper_ids(batch_.peppers);
  std::unique_ptr<RedisServer> server_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<HotCache> hot_;
};

// True for a lookup of each kind that says so.
template <typename Check>
std::vector<bool> each(const HotFound& found, const Check& check) {
  return {check(found.texts.at(0)), check(found.files.at(0)), check(found.links.at(0)),
          check(found.hosts.at(0))};
}

constexpr auto kIsHit = [](const auto& lookup) { return lookup.entry.has_value(); };
constexpr auto kIsUnavailable = [](const auto& lookup) {
  return lookup.outcome == std::decay_t<decltype(lookup)>::Outcome::kUnavailable;
};

using Flags = std::vector<bool>;

// covers 000-S01, 000-S02, 000-S03, 000-S04
TEST_F(HotKinds, GiveBackWhatWasPut) {
  start();
  EXPECT_EQ(each(get(), kIsHit), (Flags{false, false, false, false}));
  EXPECT_EQ(put(), PutOutcome::kStored);
  const auto found = get();
  ASSERT_EQ(each(found, kIsHit), (Flags{true, true, true, true}));
  EXPECT_EQ(found.texts[0].entry, batch_.text_entry);
  EXPECT_EQ(found.files[0].entry, batch_.file_entry);
  EXPECT_EQ(found.links[0].entry, batch_.link_entry);
  EXPECT_EQ(found.hosts[0].entry, batch_.host_entry);
  EXPECT_EQ(found.links[0].bytes, batch_.link_writes[0].bytes);
  EXPECT_TRUE(is_sealed(*found.files[0].entry, batch_.peppers));
  EXPECT_EQ(found.links[0].life, milliseconds(kLocalTtlMax));
  for (const auto kind : {KeyKind::kText, KeyKind::kVerdict, KeyKind::kLink, KeyKind::kDns}) {
    EXPECT_EQ(stats(kind).hits, 1u) << kind_name(kind);
    EXPECT_EQ(stats(kind).misses, 1u) << kind_name(kind);
    EXPECT_EQ(stats(kind).stored, 1u) << kind_name(kind);
  }
  EXPECT_EQ(hot_->stats().hits, 4u);
}

// All that a call sends is sent before anything is answered. The one connection is lent meanwhile,
// so nothing else is sent.
TEST_F(HotKinds, OneRoundTripReadsAllAndOneWritesAll) {
  start();
  TcpGate gate(server_->port());
  connect(server_->url_at(gate.port()));
  const auto sent_by = [&](const auto& call) {
    const auto before = gate.client_bytes();
    call();
    return gate.client_bytes() - before;
  };
  const auto written = sent_by([&] { EXPECT_EQ(put(), PutOutcome::kStored); });
  const auto read = sent_by([&] { EXPECT_EQ(each(get(), kIsHit), Flags(4, true)); });
  gate.set(GateMode::kHold);
  const auto held = [&](std::uint64_t bytes, const auto& call) {
    const auto before = gate.client_bytes();
    std::jthread thread(call);
    EXPECT_TRUE(await([&] { return gate.client_bytes() - before >= bytes; }));
    gate.set(GateMode::kReset);
  };
  held(read, [&] { EXPECT_EQ(each(get(Deadline::none()), kIsUnavailable), Flags(4, true)); });
  gate.set(GateMode::kPass);
  ASSERT_TRUE(await([&] { return get().texts[0].entry.has_value(); }));
  gate.set(GateMode::kHold);
  held(written, [&] { EXPECT_EQ(put({}, Deadline::none()), PutOutcome::kUnavailable); });
}

// covers 000-V06, 000-V07, 000-X09
TEST_F(HotKinds, I8_EveryKeyHasATtlWithinItsCap) {
  start();
  batch_.live(clock_, std::chrono::hours(10));
  const std::chrono::hours longest(24 * 365);
  ASSERT_EQ(put({longest, longest, longest, longest}), PutOutcome::kStored);
  const std::vector<milliseconds> caps = {kTextTtlMax, kFileTtlMax, kLinkTtlMax, kDnsTtlMax};
  for (std::size_t i = 0; i < caps.size(); ++i) {
    EXPECT_GT(pttl(batch_.names()[i]), 0);
    EXPECT_LE(pttl(batch_.names()[i]), caps[i].count());
    EXPECT_GT(pttl(batch_.names()[i]), caps[i].count() - 120'000);
  }
  EXPECT_EQ(stats(KeyKind::kDns).ttl_cut, 1u);
  EXPECT_LE(kFileTtlMax + kLocalTtlMax, std::chrono::hours(24 * 30));
  EXPECT_LE(kLinkTtlMax + kLocalTtlMax, std::chrono::hours(48));
  // The active config's times are for both layers together.
  const auto ttls = HotTtls::of_config(std::chrono::hours(1), std::chrono::hours(24),
                                       std::chrono::hours(2), seconds(30));
  ASSERT_EQ(put(ttls), PutOutcome::kStored);
  const std::vector<seconds> wanted = {std::chrono::hours(1) - kLocalTtlMax,
                                       std::chrono::hours(24) - kLocalTtlMax,
                                       std::chrono::hours(2) - kLocalTtlMax, seconds(30)};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_LE(pttl(batch_.names()[i]), milliseconds(wanted[i]).count());
  }
}

// covers 000-K02, 000-K08, 000-X14
TEST_F(HotKinds, I7_NoKeyOrValueHoldsWhatIsJudged) {
  start();
  ASSERT_EQ(put(), PutOutcome::kStored);
  for (const auto& name : batch_.names()) {
    EXPECT_TRUE(parse_key(name).has_value());
    EXPECT_EQ(name.find("zebra"), std::string::npos);
    const auto value = server_->ask({"GET", name});
    EXPECT_GT(value.size(), 100u);
    EXPECT_EQ(value.find("zebra"), std::string::npos);
    EXPECT_EQ(value.find("http"), std::string::npos);
  }
}

TEST_F(HotKinds, AWrongTypeAtOneKeyCostsThatKeyOnly) {
  start();
  ASSERT_EQ(put(), PutOutcome::kStored);
  server_->ask({"DEL", batch_.links[0].str()});
  server_->ask({"LPUSH", batch_.links[0].str(), "x"});
  EXPECT_EQ(each(get(), kIsHit), (Flags{true, true, false, true}));
  EXPECT_EQ(put(), PutOutcome::kStored);
  EXPECT_EQ(each(get(), kIsHit), Flags(4, true));
}

TEST_F(HotKinds, ADeniedKindCostsThatKindOnly) {
  RedisServerOptions options;
  options.users = {
      "app on >pw resetchannels ~han:safety:text:* ~han:safety:dns:* -@all +ping "
      "+mget +set +pttl"};
  start(options);
  ASSERT_EQ(put(), PutOutcome::kStored);
  connect("redis://app:pw@127.0.0.1:" + std::to_string(server_->port()));
  const auto found = get();
  EXPECT_EQ(each(found, kIsHit), (Flags{true, false, false, true}));
  EXPECT_EQ(each(found, kIsUnavailable), (Flags{false, true, true, false}));
  EXPECT_EQ(put(), PutOutcome::kPartly);
  EXPECT_EQ(stats(KeyKind::kText).stored, 1u);
  EXPECT_EQ(stats(KeyKind::kLink).store_failures, 1u);
}

// covers 000-V05, 000-X10
TEST_F(HotKinds, B19_OneBadValueIsAMissAndIsDeletedInEveryKind) {
  start();
  for (std::size_t bad = 0; bad < 4; ++bad) {
    ASSERT_EQ(put(), PutOutcome::kStored);
    server_->ask({"SET", batch_.names()[bad], "{\"schema_version\":1}", "EX", "60"});
    Flags expected(4, true);
    expected[bad] = false;
    EXPECT_EQ(each(get(), kIsHit), expected);
    EXPECT_EQ(server_->ask({"EXISTS", batch_.names()[bad]}), "0");
    const auto counts = stats(static_cast<KeyKind>(bad));
    EXPECT_EQ(counts.undecodable, 1u);
    EXPECT_EQ(counts.quarantined, 1u);
  }
}

TEST_F(HotKinds, BadValuesOfSeveralKindsAreCountedForEach) {
  start();
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string bytes = i == 1 ? std::string(kValueBytesMax + 1, 'x') : "garbage";
    server_->ask({"SET", batch_.names()[i], bytes, "EX", "60"});
  }
  EXPECT_EQ(each(get(), kIsHit), Flags(4, false));
  for (std::size_t i = 0; i < 4; ++i) {
    const auto counts = stats(static_cast<KeyKind>(i));
    EXPECT_EQ(counts.quarantined, 1u);
    EXPECT_EQ(counts.oversized, i == 1 ? 1u : 0u);
    EXPECT_EQ(counts.undecodable, i == 1 ? 0u : 1u);
  }
}

TEST_F(HotKinds, B18_AValueOfAnotherSubjectIsRefusedInEveryKind) {
  start();
  ASSERT_EQ(put(), PutOutcome::kStored);
  Batch other(clock_);
  const auto hash = safety::sha256("another");
  other.texts = {{hash, kSampleVersion}};
  other.files = {{hash, kSampleVersion, kOtherVersion}};
  other.links = {{hash, kSampleVersion, kOtherVersion}};
  other.hosts = {{hash, "AAAA"}};
  for (std::size_t i = 0; i < 4; ++i) {
    server_->ask({"SET", other.names()[i], server_->ask({"GET", batch_.names()[i]}), "EX", "60"});
  }
  EXPECT_EQ(each(hot_->get(other.keys(), ids_, late()), kIsHit), Flags(4, false));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(stats(static_cast<KeyKind>(i)).foreign, 1u);
    EXPECT_EQ(server_->ask({"EXISTS", other.names()[i]}), "1") << "foreign values are not deleted";
  }
}

// covers 000-S04, 000-X07
TEST_F(HotKinds, ADnsAnswerLivesAsLongAsBothTheKeyAndTheEntryAllow) {
  start();
  // The entry's own time is the shorter one.
  batch_.live(clock_, seconds(100));
  batch_.host_writes[0].life = seconds(800);
  ASSERT_EQ(put(), PutOutcome::kStored);
  EXPECT_EQ(get_host().life, seconds(100));
  clock_.advance(seconds(40));
  EXPECT_EQ(get_host().life, seconds(60));
  clock_.advance(seconds(60));
  EXPECT_FALSE(get_host().entry.has_value()) << "it has expired, though the key stands";
  EXPECT_EQ(server_->ask({"EXISTS", batch_.hosts[0].str()}), "1");
  // The key's time is the shorter one: a clock that is an hour ahead wrote the entry.
  batch_.live(clock_, seconds(3'700));
  batch_.host_writes[0].life = seconds(100);
  ASSERT_EQ(put(), PutOutcome::kStored);
  const auto host = get_host();
  ASSERT_TRUE(host.entry.has_value());
  EXPECT_GT(host.life.count(), 0);
  EXPECT_LE(host.life, seconds(100));
  // 900 s, whatever all of them say.
  server_->ask({"PEXPIRE", batch_.hosts[0].str(), "3600000"});
  EXPECT_EQ(get_host().life, milliseconds(kDnsTtlMax));
}

// Over both layers: what is left in Redis bounds the local cache.
TEST_F(HotKinds, ADnsAnswerEndsInTheLocalCacheWithItsLife) {
  start();
  batch_.live(clock_, seconds(30));
  ASSERT_EQ(put(), PutOutcome::kStored);
  clock_.advance(seconds(10));
  auto host = get_host();
  ASSERT_TRUE(host.entry.has_value());
  LocalCache<DnsEntry> local(1 << 20, clock_);
  const std::string key = batch_.hosts[0].str();
  local.put(key, std::make_shared<const DnsEntry>(*host.entry), host.bytes.size(), host.life);
  clock_.advance(seconds(19));
  EXPECT_NE(local.get(key), nullptr);
  clock_.advance(seconds(1));
  EXPECT_EQ(local.get(key), nullptr);
  EXPECT_FALSE(get_host().entry.has_value());
}

TEST_F(HotKinds, ADnsAnswerWithATtlOfZeroIsNotStored) {
  start();
  batch_.live(clock_, seconds(0));
  EXPECT_EQ(put(), PutOutcome::kStored);
  EXPECT_EQ(server_->ask({"EXISTS", batch_.hosts[0].str()}), "0");
  EXPECT_EQ(stats(KeyKind::kDns).stored, 0u);
  EXPECT_EQ(stats(KeyKind::kDns).store_failures, 0u);
}

// covers 000-K07
TEST_F(HotKinds, ADnsKeyWithoutATtlIsNotBelievedAndGoes) {
  start();
  ASSERT_EQ(put(), PutOutcome::kStored);
  server_->ask({"PERSIST", batch_.hosts[0].str()});
  EXPECT_FALSE(get_host().entry.has_value());
  EXPECT_EQ(server_->ask({"EXISTS", batch_.hosts[0].str()}), "0");
  EXPECT_EQ(stats(KeyKind::kDns).quarantined, 1u);
}

TEST_F(HotKinds, IfAbsentKeepsWhatIsThere) {
  start();
  server_->ask({"SET", batch_.texts[0].str(), "{\"schema_version\":2}", "EX", "60"});
  batch_.text_writes[0].if_absent = true;
  EXPECT_EQ(put(), PutOutcome::kStored);
  EXPECT_EQ(server_->ask({"GET", batch_.texts[0].str()}), "{\"schema_version\":2}");
  server_->ask({"DEL", batch_.texts[0].str()});
  EXPECT_EQ(put(), PutOutcome::kStored);
  EXPECT_TRUE(get().texts[0].entry.has_value());
  EXPECT_GT(pttl(batch_.texts[0].str()), 0);
}

}  // namespace
}  // namespace han::tests
