// Uuid: 128 bits; version 7 for public ids (time-ordered), random for lease tokens and holders.
//
// Source: RFC 9562 section 5.7 (version 7, with a monotone counter inside one millisecond, its
// section 6.2 method 1) and section 4 (text form).
//
// Threads: a value; make_* are safe to share. Blocks: never.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "safety/base/clock.h"

namespace han::safety {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const Uuid&) const = default;
  // 36 lower-case characters with dashes.
  std::string to_string() const;
  // Accepts the 36-character form in either case, nothing else.
  static std::optional<Uuid> parse(std::string_view text);
  // 128 random bits without version bits: a lease token.
  static Uuid random();
  // Version 7; within a process each is greater than the one before.
  static Uuid v7(const Clock& clock = system_clock());
};

struct UuidHash {
  std::size_t operator()(const Uuid& id) const noexcept;
};

}  // namespace han::safety
