// ReplayFixture: a database with verdict rows, a Redis with the shipped users, and both commands of
// replay as a library.
//
// Threads: one thread at a time.
// Owns:    both; the PostgreSQL server lives to the end of the program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cache/connection.h"
#include "cache/text_entry.h"
#include "pgqueue/verdict_rows.h"
#include "safety/base/pepper.h"
#include "safety/replay/rebuild.h"
#include "safety/replay/verify.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/redis_server.h"

namespace han::tests {

inline const std::string kRulesA(32, 'a');
inline const std::string kConfigA(32, 'c');
inline const std::string kConfigB(32, 'd');
inline const std::string kBundleA(32, 'b');

// Peppers p3 (current) and p2 (previous), or that of another id.
const safety::PepperSet& replay_peppers();
std::string replay_pepper_file();
const safety::Pepper& retired_pepper();

// The text of number `n` under a pepper; hits differ by `hit`.
cache::TextEntry text_entry(int n, const std::string& hit = "scam.gift",
                            const safety::Pepper& pepper = replay_peppers().current);
cache::TextKey text_key(int n, const safety::Pepper& pepper = replay_peppers().current);
// Sealed.
std::string text_bytes(int n, const std::string& hit = "scam.gift",
                       const safety::Pepper& pepper = replay_peppers().current);
// The same with a proof of somebody who has no pepper.
std::string forged(std::string sealed);
pgqueue::VerdictRow text_row(int n, const std::string& config = kConfigA,
                             const safety::Pepper& pepper = replay_peppers().current,
                             const std::string& hit = "scam.gift");
pgqueue::VerdictRow file_row(int n);
pgqueue::VerdictRow link_row(int n);
cache::VerdictKey file_key(int n);
cache::LinkKey link_key(int n);

class ReplayFixture : public QueueFixture {
 protected:
  void SetUp() override;

  void insert(std::vector<pgqueue::VerdictRow> rows);
  void insert_texts(int count);
  // Makes the rows that `where` names older.
  void age(const std::string& where, const std::string& interval);
  void set(const std::string& key, const std::string& bytes, int seconds = 600);

  struct Rebuilt {
    safety::RebuildEnd end;
    safety::RebuildCounts counts;
    std::optional<safety::PlaceToken> place;
  };
  Rebuilt rebuild(safety::RebuildOptions options = {}, safety::RebuildHooks hooks = {});
  // `with_scan`: as the user ops.
  safety::VerifyReport verify(bool is_repair = false, bool with_scan = true);

  // Every key with its value, in order.
  std::vector<std::string> dump() const;
  std::int64_t ttl(const std::string& key) const { return std::stoll(redis_.ask({"TTL", key})); }

  RedisServer redis_;
  const safety::PepperSet* peppers_ = &replay_peppers();
};

std::unique_ptr<cache::Connection> open_redis(const std::string& url);

}  // namespace han::tests
