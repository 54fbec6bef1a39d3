// Fuzz target: extraction. Every link lies in the text at starts of characters, is valid UTF-8, and
// is one by the rules of extract.h; has_links agrees; blocks of bytes find the marks that single
// bytes are; URLs in a link that stands alone are as valid; work is bounded.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "safety/base/check.h"
#include "safety/link/extract.h"
#include "safety/link/extract_mark.h"
#include "safety/link/url.h"
#include "safety/text/utf8.h"

using namespace han::safety;

namespace {

bool is_boundary(std::string_view text, std::size_t at) {
  return at == text.size() || (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80;
}

void check_link(std::string_view text, const ExtractedLink& link) {
  SAFETY_CHECK(link.start < link.end && link.end <= text.size());
  SAFETY_CHECK(is_boundary(text, link.start) && is_boundary(text, link.end));
  SAFETY_CHECK(is_valid_utf8(link.url));
  SAFETY_CHECK(link.obfuscated || link.reading != Reading::kObfuscated);
  const bool is_parsed = std::holds_alternative<Url>(Url::parse(link.url));
  const std::string_view authority = std::string_view(link.url).substr(link.url.find(':') + 1);
  SAFETY_CHECK(is_parsed || authority.find_first_of(".%") != std::string_view::npos);
}

// Blocks of bytes and single bytes find the same marks.
void check_marks(std::string_view text) {
  const MarkPresence marks = marks_in(text);
  SAFETY_CHECK(marks.links || next_link_mark(text, 0) == std::string_view::npos);
  SAFETY_CHECK(marks.disguises || next_disguise_mark(text, 0) == std::string_view::npos);
  for (std::size_t at = 1; at < text.size(); ++at) {
    const std::string_view around = text.substr(at - 1, 8);
    if (next_link_mark(around, 1) == 1) SAFETY_CHECK(next_link_mark(text, at) == at);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string buffer;
  const std::string_view text = repair_utf8({reinterpret_cast<const char*>(data), size}, buffer);
  const ExtractLimits limits;
  const Extraction extraction = extract_links(text, limits);
  SAFETY_CHECK(extraction.links.size() <= limits.links_max);
  std::size_t last = 0;
  for (const ExtractedLink& link : extraction.links) {
    check_link(text, link);
    SAFETY_CHECK(last <= link.start);
    last = link.start;
  }
  SAFETY_CHECK(has_links(text) == (extraction.is_over_budget || !extraction.links.empty()));
  SAFETY_CHECK(extraction.steps <= 2 * kExtractStepsPerByte * text.size() + 2 * kExtractStepsBase);
  const Extraction inside = extract_nested_links(text, limits);
  SAFETY_CHECK(inside.links.size() < limits.links_max);
  for (const ExtractedLink& link : inside.links) {
    SAFETY_CHECK(link.start <= link.end && link.end <= text.size());
    SAFETY_CHECK(link.reading == Reading::kNested && is_valid_utf8(link.url));
  }
  check_marks(text);
  return 0;
}
