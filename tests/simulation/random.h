// Random: the simulation's choices, the same for the same seed on every machine.
//
// Threads: one thread at a time. Blocks: never.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "safety/base/uuid.h"

namespace han::tests {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // 0 to n-1; the library's distributions differ between systems.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <typename T>
  const T& of(const std::vector<T>& items) {
    return items[below(items.size())];
  }
  safety::Uuid uuid() {
    safety::Uuid id;
    for (std::uint8_t& byte : id.bytes) byte = static_cast<std::uint8_t>(engine_());
    return id;
  }
  // As version 7: these milliseconds first.
  safety::Uuid uuid_at(std::uint64_t wall_ms) {
    safety::Uuid id = uuid();
    for (int i = 0; i < 6; ++i) {
      id.bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(wall_ms >> (40 - 8 * i));
    }
    id.bytes[6] = static_cast<std::uint8_t>(0x70 | (id.bytes[6] & 0x0F));
    id.bytes[8] = static_cast<std::uint8_t>(0x80 | (id.bytes[8] & 0x3F));
    return id;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace han::tests
