// Digests: SHA-256 for identity of content, HMAC-SHA-256 for identity of anything personal, XXH3
// for shards and deterministic jitter only, never as an identity; SHA-1 as the name that Redis
// gives a script, nothing else.
//
// HmacKey keeps the states after the inner and outer pad blocks, so one HMAC of a short message
// costs two compressions less than a one-shot call (RFC 2104 section 4 describes the
// precomputation). Sources: FIPS 180-4 (SHA-256), RFC 2104 (HMAC).
//
// Threads: all are safe to share; HmacKey is immutable after construction. Blocks: never.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "safety/base/bytes.h"

namespace han::safety {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(ByteView bytes);
inline Digest sha256(std::string_view text) { return sha256(as_bytes(text)); }

// SHA-256 over several pieces. One thread at a time.
class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  ~Sha256();
  Sha256& update(ByteView bytes);
  Sha256& update(std::string_view text) { return update(as_bytes(text)); }
  // Requires: called once; the object is finished then.
  Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class HmacKey {
 public:
  explicit HmacKey(ByteView key);
  HmacKey(HmacKey&&) noexcept;
  HmacKey& operator=(HmacKey&&) noexcept;
  ~HmacKey();

  // HMAC over the concatenation of `label` and `message`: the label separates the uses of one key.
  Digest mac(std::string_view label, ByteView message) const;
  Digest mac(std::string_view label, std::string_view message) const {
    return mac(label, as_bytes(message));
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// 40 lower-case hex digits.
std::string sha1_hex(std::string_view text);

// Not an identity: shards, jitter, sampling.
std::uint64_t xxh3(std::string_view text);

// The first 32 hex digits of a SHA-256: the form of every version string (SPEC section 5).
std::string version_string(const Digest& digest);

// Fills `out` from the system's generator; aborts when there is none.
void fill_random(std::uint8_t* out, std::size_t size);

}  // namespace han::safety
