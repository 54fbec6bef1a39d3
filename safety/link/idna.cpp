#include "safety/link/idna.h"

#include <unicode/bytestream.h>
#include <unicode/idna.h>

#include <cstdint>
#include <memory>

#include "safety/base/check.h"

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

}  // namespace

std::optional<UrlError> append_domain_to_ascii(std::string& out, std::string_view domain) {
  if (domain.size() > kIdnaBytesMax) return UrlError::kHostLength;
  UErrorCode status = U_ZERO_ERROR;
  icu::IDNAInfo info;
  icu::StringByteSink<std::string> sink(&out);
  uts46().nameToASCII_UTF8({domain.data(), static_cast<std::int32_t>(domain.size())}, sink, info,
                           status);
  if (U_FAILURE(status) || (info.getErrors() & ~kIgnoredErrors) != 0) return UrlError::kIdna;
  return std::nullopt;
}

}  // namespace han::safety
