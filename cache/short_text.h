// ShortText: a string of at most 64 characters that needs no heap: digests, versions, ids.
//
// Threads: a value. Owns: its characters. Blocks: never.
// Fails:   aborts when it is given more than kMax characters.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "safety/base/check.h"

namespace han::cache {

class ShortText {
 public:
  static constexpr std::size_t kMax = 64;

  ShortText() = default;
  // Implicit, and so is the way back: it stands in for a string.
  template <std::convertible_to<std::string_view> Text>
  // NOLINTNEXTLINE(google-explicit-constructor)
  ShortText(const Text& text) {
    const std::string_view view = text;
    SAFETY_CHECK(view.size() <= kMax);
    std::copy(view.begin(), view.end(), chars_.begin());
    size_ = static_cast<std::uint8_t>(view.size());
  }

  // NOLINTNEXTLINE(google-explicit-constructor)
  operator std::string_view() const { return {chars_.data(), size_}; }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }
  char& operator[](std::size_t at) { return chars_.at(at); }

  template <std::convertible_to<std::string_view> Text>
  bool operator==(const Text& text) const {
    return std::string_view(*this) == std::string_view(text);
  }

 private:
  std::array<char, kMax> chars_{};
  std::uint8_t size_ = 0;
};

}  // namespace han::cache
