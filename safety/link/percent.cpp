#include "safety/link/percent.h"

namespace han::safety {
namespace {

constexpr char kHexDigits[] = "0123456789ABCDEF";

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  const int lower = digit | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

void append_encoded(std::string& out, std::string_view text, EncodeSet set) {
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_encoded_in(text[i], set)) continue;
    out.append(text.substr(done, i - done));
    const auto byte = static_cast<unsigned char>(text[i]);
    const char encoded[] = {'%', kHexDigits[byte >> 4], kHexDigits[byte & 0xFU]};
    out.append(encoded, sizeof(encoded));
    done = i + 1;
  }
  out.append(text.substr(done));
}

std::string percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && text.size() - i > 2) {
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out.push_back(static_cast<char>(high << 4 | low));
        i += 2;
        continue;
      }
    }
    out.push_back(text[i]);
  }
  return out;
}

}  // namespace han::safety
