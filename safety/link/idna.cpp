#include "safety/link/idna.h"

#include <unicode/idna.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>

#include "safety/base/check.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

// What UTS 46 calls an error only with CheckHyphens or VerifyDnsLength.
constexpr std::uint32_t kIgnoredErrors =
    UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG | UIDNA_ERROR_DOMAIN_NAME_TOO_LONG |
    UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;

const icu::IDNA& uts46() {
  static const std::unique_ptr<const icu::IDNA> kInstance = [] {
    UErrorCode status = U_ZERO_ERROR;
    std::unique_ptr<const icu::IDNA> made(icu::IDNA::createUTS46Instance(
        UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII |
            UIDNA_NONTRANSITIONAL_TO_UNICODE,
        status));
    SAFETY_CHECK(U_SUCCESS(status) && made != nullptr);
    return made;
  }();
  return *kInstance;
}

// What Unicode 15.1 and 16 changed in UTS 46 for characters that are older: they map, or are
// ignored. (U+1806 became valid; where ICU does not know that, it stays refused.)
struct Mapping {
  char32_t first;
  char32_t last;
  char32_t to;  // of `first`; the others follow. 0: ignored
};

constexpr Mapping kLaterMappings[] = {
    {0x4C0, 0x4C0, 0x4CF},       {0x10A0, 0x10C5, 0x2D00},   {0x115F, 0x1160, 0},
    {0x17B4, 0x17B5, 0},         {0x180E, 0x180E, 0},        {0x1E9E, 0x1E9E, 0xDF},
    {0x2061, 0x2063, 0},         {0x206A, 0x206F, 0},        {0x2132, 0x2132, 0x214E},
    {0x2183, 0x2183, 0x2184},    {0x3164, 0x3164, 0},        {0xFFA0, 0xFFA0, 0},
    {0x1D173, 0x1D17A, 0},       {0x2F868, 0x2F868, 0x36FC}, {0x2F874, 0x2F874, 0x5F53},
    {0x2F91F, 0x2F91F, 0x243AB}, {0x2F95F, 0x2F95F, 0x7AEE}, {0x2F9BF, 0x2F9BF, 0x45D7},
};

const Mapping* later_mapping(char32_t value) {
  const auto* const found =
      std::lower_bound(std::begin(kLaterMappings), std::end(kLaterMappings), value,
                       [](const Mapping& mapping, char32_t v) { return mapping.last < v; });
  return found != std::end(kLaterMappings) && found->first <= value ? found : nullptr;
}

icu::UnicodeString with_later_mappings(std::string_view domain) {
  icu::UnicodeString out;
  for (std::size_t i = 0; i < domain.size();) {
    const CodePoint point = code_point_at(domain, i);
    i += point.size;
    const Mapping* const mapping = later_mapping(point.value);
    if (mapping == nullptr) {
      out.append(static_cast<UChar32>(point.value));
    } else if (mapping->to != 0) {
      out.append(static_cast<UChar32>(mapping->to + (point.value - mapping->first)));
    }
  }
  return out;
}

}  // namespace

std::optional<UrlError> append_domain_to_ascii(std::string& out, std::string_view domain) {
  if (domain.size() > kIdnaBytesMax) return UrlError::kHostLength;
  UErrorCode status = U_ZERO_ERROR;
  icu::IDNAInfo info;
  icu::UnicodeString ascii;
  uts46().nameToASCII(with_later_mappings(domain), ascii, info, status);
  if (U_FAILURE(status) || (info.getErrors() & ~kIgnoredErrors) != 0) return UrlError::kIdna;
  ascii.toUTF8String(out);
  return std::nullopt;
}

}  // namespace han::safety
