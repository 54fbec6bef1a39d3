#include "safety/link/confusables.h"

#include <unicode/bytestream.h>
#include <unicode/idna.h>
#include <unicode/uscript.h>
#include <unicode/uspoof.h>

#include <array>
#include <cstdint>
#include <memory>

#include "safety/base/check.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

// DNS has 63 for an A-label; what is longer names nothing, and Punycode takes quadratic time.
constexpr std::size_t kAlabelBytesMax = 63;
constexpr std::size_t kUlabelBytesMax = 255;

struct CloseChecker {
  void operator()(USpoofChecker* checker) const { uspoof_close(checker); }
};
using Checker = std::unique_ptr<USpoofChecker, CloseChecker>;

const USpoofChecker* checker() {
  static const Checker kChecker = [] {
    UErrorCode status = U_ZERO_ERROR;
    Checker made(uspoof_open(&status));
    SAFETY_CHECK(U_SUCCESS(status));
    uspoof_setChecks(made.get(), USPOOF_RESTRICTION_LEVEL, &status);
    uspoof_setRestrictionLevel(made.get(), USPOOF_MODERATELY_RESTRICTIVE);
    SAFETY_CHECK(U_SUCCESS(status));
    return made;
  }();
  return kChecker.get();
}

const icu::IDNA& uts46() {
  static const std::unique_ptr<const icu::IDNA> kInstance = [] {
    UErrorCode status = U_ZERO_ERROR;
    std::unique_ptr<const icu::IDNA> made(
        icu::IDNA::createUTS46Instance(UIDNA_NONTRANSITIONAL_TO_UNICODE, status));
    SAFETY_CHECK(U_SUCCESS(status) && made != nullptr);
    return made;
  }();
  return *kInstance;
}

// Letters with an ASCII look-alike, and the top-level domains of whose languages they are.
struct Home {
  std::string_view top_domains;  // between spaces
  std::u32string_view letters;
};

constexpr std::u32string_view kRussian =
    U"\u0430\u0431\u0433\u0435\u043E\u0440\u0441\u0443\u0445";  // a b g e o r s u kh

constexpr Home kHomes[] = {
    // Cyrillic. The A-labels: rf, rus, Moscow, children, online, site, org, com, catholic; bel;
    // ukr; bg, eu; kaz; srb; mkd; mon.
    {" ru su xn--p1ai xn--p1acf xn--80adxhks xn--d1acj3b xn--80asehdb xn--80aswg xn--c1avg "
     "xn--j1aef xn--80aqecdr1a moscow tatar by xn--90ais ua xn--j1amh bg xn--90ae xn--e1a4c kz "
     "xn--80ao21a rs xn--90a3ac me ba mk xn--d1alf mn xn--l1acc kg tj uz ",
     kRussian},
    {" by xn--90ais ua xn--j1amh kz xn--80ao21a ", U"\u0456"},  // i with one dot
    {" ua xn--j1amh ", U"\u0491"},
    {" rs xn--90a3ac me ba mk xn--d1alf ", U"\u0458"},  // je
    {" mk xn--d1alf ", U"\u0455"},                      // dze
    {" kz xn--80ao21a mn xn--l1acc kg tatar ", U"\u04AF"},
    {" kz xn--80ao21a tatar ru ", U"\u04BB"},
    // Greek; the A-labels: el, eu.
    {" gr cy xn--qxam xn--qxa6a ", U"\u03B1\u03B3\u03B9\u03BD\u03BF\u03C1\u03C3\u03C5"},
    {" am ", U"\u0561\u0563\u0566\u0570\u0578\u057C\u057D\u0581\u0584\u0585"},
    {" ge ", U"\u10E7"},
    {" il ", U"\u05D5\u05D8\u05D9\u05DF\u05E1"},
    {" ae bh dz eg iq ir jo kw lb ly ma om pk ps qa sa sd sy tn ye ", U"\u0627\u0647\u06C1\u06BE"},
    {" mm ", U"\u101D"},
    {" jp cn tw hk ", U"\u3007"},
};
constexpr Home kLatinHomes[] = {
    {" tr az ", U"\u0131"},                    // dotless i
    {" tg gh bj bf ", U"\u0263\u0269\u028B"},  // gamma, iota, hooked v of African alphabets
};
// Letters of living Latin alphabets that nobody takes for the two letters of their skeleton.
constexpr std::u32string_view kLigatures = U"\u00E6\u0153";

bool is_ascii(std::string_view text) { return ascii_prefix(text) == text.size(); }

bool is_lower_letter(char c) { return c >= 'a' && c <= 'z'; }

bool has_ascii_letter(std::string_view text) {
  for (const char c : text) {
    if (is_lower_letter(c)) return true;
  }
  return false;
}

std::string_view cut(std::string_view label) {
  if (label.size() <= kUlabelBytesMax) return label;
  std::size_t end = kUlabelBytesMax;
  while (end > 0 && (static_cast<unsigned char>(label[end]) & 0xC0U) == 0x80) --end;
  return label.substr(0, end);
}

bool has(std::u32string_view letters, char32_t letter) {
  return letters.find(letter) != std::u32string_view::npos;
}

template <std::size_t kCount>
bool is_home(const Home (&homes)[kCount], const std::string& spaced_domain, char32_t letter) {
  for (const Home& home : homes) {
    if (has(home.letters, letter) && home.top_domains.find(spaced_domain) != std::string::npos) {
      return true;
    }
  }
  return false;
}

UScriptCode script_of(char32_t letter) {
  UErrorCode status = U_ZERO_ERROR;
  return uscript_getScript(static_cast<UChar32>(letter), &status);
}

// The script of an internationalised top-level domain other than Cyrillic and Greek, whose
// alphabets are in the table.
UScriptCode whole_script_home(std::string_view top_domain) {
  const std::string name = unicode_label(top_domain);
  if (name.empty()) return USCRIPT_COMMON;
  const UScriptCode script = script_of(code_point_at(name, 0).value);
  return script == USCRIPT_CYRILLIC || script == USCRIPT_GREEK ? USCRIPT_COMMON : script;
}

bool has_ascii_skeleton(std::string_view label) {
  std::array<char, 4 * kUlabelBytesMax> skeleton;
  UErrorCode status = U_ZERO_ERROR;
  const std::int32_t size =
      uspoof_getSkeletonUTF8(checker(), 0, label.data(), static_cast<std::int32_t>(label.size()),
                             skeleton.data(), static_cast<std::int32_t>(skeleton.size()), &status);
  // A skeleton that does not fit has grown to what no ASCII label looks like.
  if (U_FAILURE(status)) return false;
  return is_ascii({skeleton.data(), static_cast<std::size_t>(size)});
}

}  // namespace

std::string unicode_label(std::string_view alabel) {
  if (alabel.size() > kAlabelBytesMax || !alabel.starts_with("xn--")) return {};
  UErrorCode status = U_ZERO_ERROR;
  icu::IDNAInfo info;
  std::string out;
  icu::StringByteSink<std::string> sink(&out);
  uts46().labelToUnicodeUTF8({alabel.data(), static_cast<std::int32_t>(alabel.size())}, sink, info,
                             status);
  constexpr std::uint32_t kIgnored =
      UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;
  if (U_FAILURE(status) || (info.getErrors() & ~kIgnored) != 0) return {};
  return out;
}

bool is_mixed_script(std::string_view ulabel) {
  const std::string_view label = cut(ulabel);
  if (is_ascii(label)) return false;
  UErrorCode status = U_ZERO_ERROR;
  const std::int32_t failed = uspoof_checkUTF8(
      checker(), label.data(), static_cast<std::int32_t>(label.size()), nullptr, &status);
  SAFETY_CHECK(U_SUCCESS(status));
  return (failed & USPOOF_RESTRICTION_LEVEL) != 0;
}

bool is_confusable(std::string_view ulabel, std::string_view top_domain) {
  const std::string_view label = cut(ulabel);
  if (is_ascii(label) || !has_ascii_skeleton(label)) return false;
  const std::string spaced = " " + std::string(top_domain) + " ";
  const UScriptCode home_script = whole_script_home(top_domain);
  // Among Latin letters, a letter of another script is at home nowhere.
  const bool is_among_latin = has_ascii_letter(label);
  for (std::size_t i = 0; i < label.size();) {
    const CodePoint point = code_point_at(label, i);
    i += point.size;
    if (point.value < 0x80 || has(kLigatures, point.value)) continue;
    if (is_home(kLatinHomes, spaced, point.value)) continue;
    if (is_among_latin) return true;
    const bool is_at_home =
        is_home(kHomes, spaced, point.value) ||
        (home_script != USCRIPT_COMMON && script_of(point.value) == home_script);
    if (!is_at_home) return true;
  }
  return false;
}

}  // namespace han::safety
