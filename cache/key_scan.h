// KeyScan: the names of all keys of one Redis database, page by page.
//
// SCAN promises that a key that is there from the first page to the last is named at least once;
// one that comes or goes meanwhile may be named or not, and while the server grows or shrinks its
// table some may be named twice. A page names no key twice. SCAN is not bound to a user's key
// patterns, so names come raw; what may be shown of them is the caller's question (SPEC I7).
// Source: the SCAN command's page of redis.io, "Scan guarantees".
//
// Threads: one thread at a time.
// Owns:    nothing; the connection, of a user that may SCAN, must outlive it.
// Blocks:  next() up to its deadline, and for the pause that keeps `keys_per_second`.
// Fails:   by KeyPage; the scan is over then.
// Limits:  about `page_keys` names a page; names over the connection's value limit are counted.
//
// Example:
//   KeyScan scan(connection);
//   while (!scan.is_over()) {
//     const KeyPage page = scan.next(Deadline::after(10s));
//     if (!page.is_ok()) return page.trouble;
//     for (const std::string& key : page.keys) look_at(key);
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cache/connection.h"
#include "safety/base/clock.h"

namespace han::cache {

struct KeyScanOptions {
  // Names that one SCAN looks for; the server may give some more or fewer.
  std::uint32_t page_keys = 256;
  // 0: as fast as it goes.
  std::uint32_t keys_per_second = 0;
};

struct KeyPage {
  bool is_ok() const { return trouble == Trouble::kNone && error == ErrorClass::kNone; }

  Trouble trouble = Trouble::kNone;
  // What the server answered instead, for example kNoperm.
  ErrorClass error = ErrorClass::kNone;
  // Sorted, each once; a page may be empty before the scan is over.
  std::vector<std::string> keys;
  // Keys that are there but whose names are too long to be read.
  std::size_t nameless = 0;
};

class KeyScan {
 public:
  explicit KeyScan(Connection& connection, KeyScanOptions options = {});

  bool is_over() const { return is_over_; }
  // Requires: the scan is not over.
  KeyPage next(safety::Deadline deadline);

 private:
  void pause(safety::Deadline deadline) const;
  bool take(Reply& reply, KeyPage& page);

  Connection& connection_;
  const KeyScanOptions options_;
  const std::uint32_t page_keys_;
  std::string cursor_ = "0";
  bool is_over_ = false;
  safety::Clock::SteadyTime due_{};
};

}  // namespace han::cache
