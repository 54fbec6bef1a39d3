// The low-level SHA-256 calls are deprecated in OpenSSL 3 but remain the only way to copy a hash
// state without an allocation, which is half the cost of a short HMAC.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "safety/base/digest.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <xxhash.h>

#include <cstring>

#include "safety/base/check.h"
#include "safety/base/hex.h"

namespace han::safety {

Digest sha256(ByteView bytes) {
  Digest out;
  SAFETY_CHECK(SHA256(bytes.data(), bytes.size(), out.data()) != nullptr);
  return out;
}

std::string sha1_hex(std::string_view text) {
  std::array<std::uint8_t, SHA_DIGEST_LENGTH> out{};
  const ByteView bytes = as_bytes(text);
  SAFETY_CHECK(SHA1(bytes.data(), bytes.size(), out.data()) != nullptr);
  return to_hex(out);
}

struct Sha256::State {
  SHA256_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  SAFETY_CHECK(SHA256_Init(&state_->context) == 1);
}

Sha256::~Sha256() = default;

Sha256& Sha256::update(ByteView bytes) {
  SAFETY_CHECK(SHA256_Update(&state_->context, bytes.data(), bytes.size()) == 1);
  return *this;
}

Digest Sha256::finish() {
  Digest out;
  SAFETY_CHECK(SHA256_Final(out.data(), &state_->context) == 1);
  return out;
}

struct HmacKey::State {
  SHA256_CTX inner;
  SHA256_CTX outer;
};

HmacKey::HmacKey(ByteView key) : state_(std::make_unique<State>()) {
  std::array<std::uint8_t, SHA256_CBLOCK> block{};
  if (key.size() > block.size()) {
    const Digest short_key = sha256(key);
    std::memcpy(block.data(), short_key.data(), short_key.size());
  } else if (!key.empty()) {
    std::memcpy(block.data(), key.data(), key.size());
  }
  for (auto& byte : block) byte ^= 0x36;
  SAFETY_CHECK(SHA256_Init(&state_->inner) == 1);
  SAFETY_CHECK(SHA256_Update(&state_->inner, block.data(), block.size()) == 1);
  for (auto& byte : block) byte ^= 0x36 ^ 0x5c;
  SAFETY_CHECK(SHA256_Init(&state_->outer) == 1);
  SAFETY_CHECK(SHA256_Update(&state_->outer, block.data(), block.size()) == 1);
  OPENSSL_cleanse(block.data(), block.size());
}

HmacKey::HmacKey(HmacKey&&) noexcept = default;
HmacKey& HmacKey::operator=(HmacKey&&) noexcept = default;

HmacKey::~HmacKey() {
  if (state_) OPENSSL_cleanse(state_.get(), sizeof(State));
}

Digest HmacKey::mac(std::string_view label, ByteView message) const {
  Digest out;
  SHA256_CTX context = state_->inner;
  SAFETY_CHECK(SHA256_Update(&context, label.data(), label.size()) == 1);
  SAFETY_CHECK(SHA256_Update(&context, message.data(), message.size()) == 1);
  SAFETY_CHECK(SHA256_Final(out.data(), &context) == 1);
  context = state_->outer;
  SAFETY_CHECK(SHA256_Update(&context, out.data(), out.size()) == 1);
  SAFETY_CHECK(SHA256_Final(out.data(), &context) == 1);
  return out;
}

std::uint64_t xxh3(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

std::string version_string(const Digest& digest) { return to_hex(digest).substr(0, 32); }

void fill_random(std::uint8_t* out, std::size_t size) {
  SAFETY_CHECK(RAND_bytes(out, static_cast<int>(size)) == 1);
}

}  // namespace han::safety
