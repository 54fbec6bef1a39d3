#include "tests/safety/replay/replay_fixture.h"

#include <algorithm>
#include <sstream>

#include "cache/entry_seal.h"
#include "cache/file_entry.h"
#include "cache/link_entry.h"

namespace han::tests {

using namespace pgqueue;
using safety::Pepper;
using safety::PepperSet;

namespace {

std::string raw(const safety::Digest& hash) { return std::string(safety::as_text(hash)); }

safety::Digest hash_of(const std::string& label, int n, const Pepper& pepper) {
  return pepper.key.mac(label, "subject " + std::to_string(n));
}

safety::Digest content_hash(int n) { return safety::sha256("content " + std::to_string(n)); }

cache::FileEntry file_entry(int n) {
  return {.subject = safety::to_hex(content_hash(n)),
          .config_version = kConfigA,
          .detector_bundle = kBundleA,
          .decision = cache::CachedDecision::kAllow};
}

cache::LinkEntry link_entry(int n) {
  return {.subject = safety::to_hex(hash_of("link", n, replay_peppers().current)),
          .rules_version = kRulesA,
          .config_version = kConfigA,
          .decision = cache::CachedDecision::kAllow};
}

}  // namespace

std::string replay_pepper_file() {
  return "p3 " + std::string(64, '3') + "\np2 " + std::string(64, '2') + "\n";
}

const PepperSet& replay_peppers() {
  static const PepperSet peppers = safety::parse_peppers(replay_pepper_file());
  return peppers;
}

const Pepper& retired_pepper() {
  static const PepperSet peppers = safety::parse_peppers("p1 " + std::string(64, '1') + "\n");
  return peppers.current;
}

cache::TextEntry text_entry(int n, const std::string& hit, const Pepper& pepper) {
  return {.subject = safety::to_hex(hash_of("text", n, pepper)),
          .pepper_id = pepper.id,
          .rules_version = kRulesA,
          .hits = {hit},
          .monitor = {}};
}

cache::TextKey text_key(int n, const Pepper& pepper) {
  return {hash_of("text", n, pepper), kRulesA};
}

std::string text_bytes(int n, const std::string& hit, const Pepper& pepper) {
  auto entry = text_entry(n, hit, pepper);
  return cache::seal_entry(entry, pepper);
}

std::string forged(std::string sealed) {
  char& digit = sealed.at(sealed.size() - 4);
  digit = digit == '0' ? '1' : '0';
  return sealed;
}

VerdictRow text_row(int n, const std::string& config, const Pepper& pepper,
                    const std::string& hit) {
  return {{"text", raw(hash_of("text", n, pepper)), pepper.id, kRulesA, config, ""},
          "block",
          text_bytes(n, hit, pepper)};
}

VerdictRow file_row(int n) {
  auto entry = file_entry(n);
  return {{"file", raw(content_hash(n)), "", "", kConfigA, kBundleA},
          "allow",
          cache::seal_entry(entry, replay_peppers().current)};
}

VerdictRow link_row(int n) {
  auto entry = link_entry(n);
  return {{"link", raw(hash_of("link", n, replay_peppers().current)), "p3", kRulesA, kConfigA, ""},
          "allow",
          cache::seal_entry(entry, replay_peppers().current)};
}

cache::VerdictKey file_key(int n) { return {content_hash(n), kConfigA, kBundleA}; }

cache::LinkKey link_key(int n) {
  return {hash_of("link", n, replay_peppers().current), kRulesA, kConfigA};
}

std::unique_ptr<cache::Connection> open_redis(const std::string& url) {
  auto opened = cache::Connection::open(cache::RedisUrl::parse(url), {}, soon());
  EXPECT_EQ(opened.trouble, cache::Trouble::kNone);
  return std::move(opened.connection);
}

void ReplayFixture::SetUp() { QueueFixture::SetUp(); }

void ReplayFixture::insert(std::vector<VerdictRow> rows) {
  Connection connection(conninfo_, soon());
  Transaction transaction(connection);
  enqueue_verdicts(transaction, std::move(rows));
  transaction.commit(soon());
}

void ReplayFixture::insert_texts(int count) {
  std::vector<VerdictRow> rows;
  for (int n = 0; n < count; ++n) rows.push_back(text_row(n));
  insert(std::move(rows));
}

void ReplayFixture::age(const std::string& where, const std::string& interval) {
  execute("UPDATE message_safety.verdicts SET decided_at = decided_at - interval '" + interval +
          "' WHERE " + where);
}

void ReplayFixture::set(const std::string& key, const std::string& bytes, int seconds) {
  EXPECT_EQ(redis_.ask({"SET", key, bytes, "EX", std::to_string(seconds)}), "OK");
}

ReplayFixture::Rebuilt ReplayFixture::rebuild(safety::RebuildOptions options,
                                              safety::RebuildHooks hooks) {
  Connection database(conninfo_, soon());
  const auto redis = open_redis(redis_.unix_url());
  const safety::EntryReader reader(peppers_);
  const safety::RowJudge judge(reader, {});
  safety::Rebuild rebuild(database, *redis, judge, std::move(options), std::move(hooks));
  const auto end = rebuild.run();
  return {end, rebuild.total(), rebuild.place()};
}

safety::VerifyReport ReplayFixture::verify(bool is_repair, bool with_scan) {
  Connection database(conninfo_, soon());
  Connection lookups(conninfo_, soon());
  const auto scan = with_scan ? open_redis(redis_.ops_url()) : nullptr;
  const auto worker = is_repair || !with_scan ? open_redis(redis_.unix_url()) : nullptr;
  const safety::EntryReader reader(peppers_);
  const safety::RowJudge judge(reader, {});
  safety::Verify verify({database, lookups, scan.get(), worker.get()}, reader, judge,
                        {.is_repair = is_repair}, {});
  const auto end = verify.run();
  EXPECT_EQ(end.reason, safety::VerifyEnd::Reason::kDone);
  return verify.report();
}

std::vector<std::string> ReplayFixture::dump() const {
  std::istringstream keys(redis_.ask({"KEYS", "*"}));
  std::vector<std::string> all;
  for (std::string key; std::getline(keys, key);) {
    if (!key.empty()) all.push_back(key + " " + redis_.ask({"GET", key}));
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace han::tests
