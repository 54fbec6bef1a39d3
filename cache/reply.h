// Reply: what a Redis server answered to one command, in our own type.
//
// An error reply keeps its class only: the server's text may quote keys or arguments (SPEC I7).
// Source: the RESP2 specification of redis.io; error prefixes as Redis 7.0 sends them.
//
// Threads: a value. Blocks: never.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace han::cache {

enum class ErrorClass {
  kNone,
  kLoading,
  kReadonly,
  kOom,
  kBusy,
  kNoperm,
  kNoauth,
  kWrongpass,
  kMasterdown,
  kMisconf,
  kNoscript,
  kWrongtype,
  kMaxClients,
  // A script ran a command or touched a key that its user may not; what it did before stays done.
  kScriptDenied,
  // Any other error inside a script, likewise.
  kScriptFailed,
  // Not sent by Redis: stands in for a value over the limit, which was read and dropped.
  kOversized,
  kOther,
};

// PTTL's and TTL's answers for a key that is not there, and for one that never expires.
inline constexpr std::int64_t kPttlNoKey = -2;
inline constexpr std::int64_t kPttlNoTtl = -1;

inline constexpr std::size_t kErrorClassCount = static_cast<std::size_t>(ErrorClass::kOther) + 1;

// The class of an error reply's text (without the leading '-').
ErrorClass classify_error(std::string_view text);

// A lower-case word for logs and metrics.
std::string_view error_name(ErrorClass error);

struct Reply {
  enum class Kind { kNil, kInteger, kStatus, kBulk, kArray, kError };

  bool is_error() const { return kind == Kind::kError; }
  bool is_status(std::string_view word) const { return kind == Kind::kStatus && text == word; }

  Kind kind = Kind::kNil;
  ErrorClass error = ErrorClass::kNone;
  std::int64_t integer = 0;
  // Of a status or bulk reply.
  std::string text;
  std::vector<Reply> elements;
};

}  // namespace han::cache
