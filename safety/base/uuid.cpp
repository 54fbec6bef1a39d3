#include "safety/base/uuid.h"

#include <algorithm>
#include <cstring>

#include "safety/base/digest.h"
#include "safety/base/hex.h"
#include "safety/base/mutex.h"

namespace han::safety {
namespace {

constexpr std::array<std::size_t, 4> kDashes = {8, 13, 18, 23};

// 48 bits of milliseconds and 12 bits of counter, as one growing number.
class V7Sequence {
 public:
  std::uint64_t next(std::uint64_t milliseconds) {
    MutexLock lock(mutex_);
    last_ = std::max(last_ + 1, milliseconds << 12);
    return last_;
  }

 private:
  Mutex mutex_;
  std::uint64_t last_ GUARDED_BY(mutex_) = 0;
};

}  // namespace

std::string Uuid::to_string() const {
  std::string text = to_hex(bytes);
  for (const std::size_t dash : kDashes) text.insert(dash, 1, '-');
  return text;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_dash = std::find(kDashes.begin(), kDashes.end(), i) != kDashes.end();
    if (is_dash != (text[i] == '-')) return std::nullopt;
    if (!is_dash) digits += text[i];
  }
  const auto decoded = from_hex(digits);
  if (!decoded) return std::nullopt;
  Uuid id;
  std::copy(decoded->begin(), decoded->end(), id.bytes.begin());
  return id;
}

Uuid Uuid::random() {
  Uuid id;
  fill_random(id.bytes.data(), id.bytes.size());
  return id;
}

Uuid Uuid::v7(const Clock& clock) {
  static V7Sequence sequence;
  const auto since_epoch = clock.wall_now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
  const std::uint64_t stamp = sequence.next(static_cast<std::uint64_t>(ms));
  Uuid id = random();
  for (std::size_t i = 0; i < 6; ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(stamp >> (12 + 8 * (5 - i)));
  }
  id.bytes[6] = static_cast<std::uint8_t>(0x70U | ((stamp >> 8) & 0x0fU));
  id.bytes[7] = static_cast<std::uint8_t>(stamp);
  id.bytes[8] = static_cast<std::uint8_t>(0x80U | (id.bytes[8] & 0x3fU));
  return id;
}

std::size_t UuidHash::operator()(const Uuid& id) const noexcept {
  return xxh3({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
}

}  // namespace han::safety
