#include "safety/text/fold.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uversion.h>

#include <array>
#include <cstdint>

#include "safety/base/byte_block.h"
#include "safety/base/check.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

constexpr std::size_t kPieceBytes = 512;
constexpr std::size_t kPieceBytesMax = 768;
constexpr std::string_view kDottedI = "i\xCC\x87";  // i, U+0307

ByteBlock white_space(ByteBlock block) {
  return bytes_in_range(block, '\t', 5) | bytes_equal(block, ' ');
}

bool is_white_space(unsigned char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

bool is_dropped_control(unsigned char byte) {
  return (byte < 0x20 && !is_white_space(byte)) || byte == 0x7F;
}

// Writes at the end of a buffer and knows whether a space was written last.
class Writer {
 public:
  explicit Writer(char* to) : start_(to), to_(to) {}

  void put(char c) { *to_++ = c; }
  void put_space() {
    if (!ends_with_space()) put(' ');
  }
  void put_block(ByteBlock block) {
    store_block(to_, block);
    to_ += kByteBlockBytes;
  }
  bool ends_with_space() const { return to_ != start_ && to_[-1] == ' '; }
  std::size_t size() const { return static_cast<std::size_t>(to_ - start_); }

 private:
  char* start_;
  char* to_;
};

void fold_ascii_byte(unsigned char byte, Writer& out) {
  if (is_white_space(byte)) {
    out.put_space();
  } else if (!is_dropped_control(byte)) {
    const bool is_upper = byte >= 'A' && byte <= 'Z';
    out.put(static_cast<char>(is_upper ? byte | 0x20 : byte));
  }
}

// A block without dropped characters and without two white-space characters in a row is folded
// whole; the block that starts one byte earlier shows each byte's predecessor.
std::string_view fold_ascii(std::string_view text, std::string& buffer) {
  if (buffer.size() < text.size()) buffer.resize(text.size());
  Writer out(buffer.data());
  std::size_t offset = 0;
  while (offset < text.size()) {
    const auto byte = static_cast<unsigned char>(text[offset]);
    if (offset == 0 || text.size() - offset < kByteBlockBytes ||
        (is_white_space(byte) && out.ends_with_space())) {
      fold_ascii_byte(byte, out);
      ++offset;
      continue;
    }
    const ByteBlock block = load_block(text.data() + offset);
    const ByteBlock spaces = white_space(block);
    const ByteBlock controls =
        (bytes_in_range(block, 0, 0x20) | bytes_equal(block, 0x7F)) & ~spaces;
    if (any_set(controls | (spaces & white_space(load_block(text.data() + offset - 1))))) {
      for (const std::size_t end = offset + kByteBlockBytes; offset < end; ++offset) {
        fold_ascii_byte(static_cast<unsigned char>(text[offset]), out);
      }
      continue;
    }
    const ByteBlock lower = block | (bytes_in_range(block, 'A', 26) & all_bytes(0x20));
    out.put_block((lower & ~spaces) | (spaces & all_bytes(' ')));
    offset += kByteBlockBytes;
  }
  return {buffer.data(), out.size()};
}

bool is_dropped(char32_t character) {
  if (character < 0x80) return is_dropped_control(static_cast<unsigned char>(character));
  return (character < 0xA0 && character != 0x85) || (character >= 0xFFF9 && character <= 0xFFFB);
}

std::size_t find_dropped(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // Lead bytes of U+0080..U+00BF and of U+F000..U+FFFF.
    const bool may_be_dropped =
        byte < 0x80 ? is_dropped_control(byte) : byte == 0xC2 || byte == 0xEF;
    if (may_be_dropped && is_dropped(code_point_at(text, i).value)) return i;
  }
  return text.size();
}

std::string without_dropped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    if (!is_dropped(point.value)) out.append(text.substr(i, point.size));
    i += point.size;
  }
  return out;
}

const icu::Normalizer2& casefold_normalizer() {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = icu::Normalizer2::getNFKCCasefoldInstance(status);
  SAFETY_CHECK(U_SUCCESS(status) && normalizer != nullptr);
  return *normalizer;
}

// The length of the next piece that is normalised on its own.
std::size_t piece_bytes(std::string_view text, const icu::Normalizer2& normalizer) {
  if (text.size() <= kPieceBytes) return text.size();
  std::size_t end = kPieceBytes;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) ++end;
  while (end < text.size() && end < kPieceBytesMax) {
    const CodePoint next = code_point_at(text, end);
    if (normalizer.hasBoundaryBefore(static_cast<UChar32>(next.value)) != 0) break;
    end += next.size;
  }
  return end;
}

void normalize(std::string_view text, std::string& out) {
  const icu::Normalizer2& normalizer = casefold_normalizer();
  out.clear();
  icu::StringByteSink<std::string> sink(&out);
  while (!text.empty()) {
    const std::size_t size = piece_bytes(text, normalizer);
    UErrorCode status = U_ZERO_ERROR;
    normalizer.normalizeUTF8(0, icu::StringPiece(text.data(), static_cast<std::int32_t>(size)),
                             sink, nullptr, status);
    SAFETY_CHECK(U_SUCCESS(status));
    text.remove_prefix(size);
  }
}

// Drops each U+0307 directly after "i"; what follows may compose with the "i" then.
void drop_dots_above_i(std::string& text) {
  std::size_t read = text.find(kDottedI);
  if (read == std::string::npos) return;
  std::string kept = text.substr(0, read);
  while (read < text.size()) {
    const bool is_dot =
        !kept.empty() && kept.back() == 'i' && text.compare(read, 2, "\xCC\x87") == 0;
    if (is_dot) {
      read += 2;
    } else {
      kept.push_back(text[read++]);
    }
  }
  normalize(kept, text);
}

// The bytes of the white-space character at `offset`, 0 when there is none. The others of Unicode's
// White_Space are spaces after NFKC.
std::size_t white_space_bytes(std::string_view text, std::size_t offset) {
  if (is_white_space(static_cast<unsigned char>(text[offset]))) return 1;
  const std::string_view rest = text.substr(offset, 3);
  if (rest.substr(0, 2) == "\xC2\x85") return 2;
  const bool is_space = rest == "\xE1\x9A\x80" || rest == "\xE2\x80\xA8" || rest == "\xE2\x80\xA9";
  return is_space ? 3 : 0;
}

// True when the block needs a look at each byte: white space but single spaces, or a lead byte of a
// white-space character.
bool may_collapse(const char* at) {
  const ByteBlock block = load_block(at);
  const ByteBlock leads = bytes_equal(block, 0xC2) | bytes_in_range(block, 0xE1, 2);
  const ByteBlock pairs = bytes_equal(block, ' ') & bytes_equal(load_block(at - 1), ' ');
  return any_set(bytes_in_range(block, '\t', 5) | leads | pairs);
}

// In place: what is written never passes what was read, and a block is loaded before it is stored.
void collapse_white_space(std::string& text) {
  const std::string_view view = text;
  Writer out(text.data());
  std::size_t offset = 0;
  while (offset < view.size()) {
    const bool is_repeated = view[offset] == ' ' && out.ends_with_space();
    if (offset > 0 && view.size() - offset >= kByteBlockBytes && !is_repeated &&
        !may_collapse(view.data() + offset)) {
      out.put_block(load_block(view.data() + offset));
      offset += kByteBlockBytes;
      continue;
    }
    const std::size_t size = white_space_bytes(view, offset);
    if (size == 0) {
      out.put(view[offset++]);
    } else {
      out.put_space();
      offset += size;
    }
  }
  text.resize(out.size());
}

}  // namespace

std::string_view fold(std::string_view text, std::string& buffer) {
  if (ascii_prefix(text) == text.size()) return fold_ascii(text, buffer);
  if (find_dropped(text) == text.size()) {
    normalize(text, buffer);
  } else {
    normalize(without_dropped(text), buffer);
  }
  drop_dots_above_i(buffer);
  collapse_white_space(buffer);
  return buffer;
}

std::string fold_version() {
  UVersionInfo icu_version;
  UVersionInfo unicode_version;
  u_getVersion(icu_version);
  u_getUnicodeVersion(unicode_version);
  std::array<char, U_MAX_VERSION_STRING_LENGTH> text;
  u_versionToString(icu_version, text.data());
  std::string out = std::string("ICU ") + text.data();
  u_versionToString(unicode_version, text.data());
  return out + ", Unicode " + text.data();
}

}  // namespace han::safety
