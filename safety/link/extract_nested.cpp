#include "safety/link/extract_nested.h"

#include <algorithm>
#include <array>

#include "safety/link/extract_char.h"
#include "safety/link/extract_scheme.h"
#include "safety/link/percent.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

// One character of `raw`, or what percent-encoding makes of it, at `at`; moves `at` behind it.
// `rounds` becomes the number of encodings when that is more. `hex` is of the character.
bool take(std::string_view url, std::size_t& at, char raw, std::string_view hex,
          std::size_t& rounds) {
  if (at < url.size() && url[at] == raw) {
    ++at;
    return true;
  }
  if (at >= url.size() || url[at] != '%') return false;
  std::size_t end = at + 1;
  std::size_t encodings = 1;
  for (; url.substr(end, 2) == "25"; end += 2) ++encodings;
  if (url.size() < end + 2 || url[end] != hex[0] || ascii_lower(url[end + 1]) != hex[1]) {
    return false;
  }
  at = end + 2;
  rounds = std::max(rounds, encodings);
  return true;
}

// Letters of either case; `at` stays when they are not there.
bool take_letters(std::string_view url, std::size_t& at, std::string_view letters,
                  std::size_t& rounds) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::size_t behind = at;
  for (const char lower : letters) {
    const auto upper = static_cast<char>(lower - 'a' + 'A');
    const auto hex = [kDigits](char c) {
      return std::array<char, 2>{kDigits[static_cast<unsigned char>(c) >> 4],
                                 kDigits[static_cast<unsigned char>(c) & 0xF]};
    };
    const auto small = hex(lower);
    const auto capital = hex(upper);
    if (!take(url, behind, lower, {small.data(), 2}, rounds) &&
        !take(url, behind, upper, {capital.data(), 2}, rounds)) {
      return false;
    }
  }
  at = behind;
  return true;
}

bool take_slash(std::string_view url, std::size_t& at, std::size_t& rounds) {
  return take(url, at, '/', "2f", rounds) || take(url, at, '\\', "5c", rounds);
}

}  // namespace

NestedUrls::NestedUrls(std::string_view url, std::size_t from, std::size_t rounds_max)
    : url_(url),
      rounds_max_(rounds_max),
      at_(from),
      parameters_at_(std::min(url.find_first_of("?#"), url.size())) {}

std::optional<NestedUrls::Mark> NestedUrls::mark_at(std::size_t at) const {
  Mark mark{at, 0, false, false, at};
  const char first = ascii_lower(url_[at]);
  std::size_t behind = at;
  const bool may_be_http = first == 'h' || first == '%';
  if (may_be_http && take_letters(url_, behind, "http", mark.rounds)) {
    take_letters(url_, behind, "s", mark.rounds);
    const bool is_scheme = take(url_, behind, ':', "3a", mark.rounds);
    const bool has_slash = take_slash(url_, behind, mark.rounds);
    mark.is_sloppy = !has_slash || !take_slash(url_, behind, mark.rounds);
    mark.host = behind;
    // Servers that collapse slashes take "/http:/host" for "/http://host".
    const char before = at > 0 ? url_[at - 1] : ' ';
    const bool is_part = before == '/' || before == '?' || before == '#';
    const bool may_be_sloppy = (at > parameters_at_ && before == '=') || (has_slash && is_part);
    if (is_scheme && behind < url_.size() && (!mark.is_sloppy || may_be_sloppy)) return mark;
  }
  if (at > parameters_at_ && url_[at - 1] == '=' && (is_slash(first) || first == '%')) {
    behind = at;
    mark = {at, 0, false, false, at};
    mark.is_relative =
        take_slash(url_, behind, mark.rounds) && take_slash(url_, behind, mark.rounds);
    mark.host = behind;
    if (mark.is_relative && behind < url_.size()) return mark;
  }
  return std::nullopt;
}

std::optional<NestedUrls::Mark> NestedUrls::next_mark() {
  for (; at_ < url_.size(); ++at_) {
    if (const auto mark = mark_at(at_)) return mark;
  }
  return std::nullopt;
}

std::size_t NestedUrls::end_of(const Mark& mark) const {
  const bool is_parameter = mark.begin > parameters_at_;
  std::string_view enders = is_parameter ? "&#" : "/?&#";
  if (mark.rounds == 0) enders = is_parameter ? "&" : "";
  return std::min(url_.find_first_of(enders, mark.host), url_.size());
}

std::optional<NestedUrl> NestedUrls::next() {
  const auto mark = next_mark();
  if (!mark) return std::nullopt;
  const std::size_t end = end_of(*mark);
  NestedUrl nested{mark->begin,
                   end,
                   mark->rounds,
                   mark->is_relative,
                   mark->is_relative || mark->is_sloppy,
                   std::string(url_.substr(mark->begin, end - mark->begin))};
  at_ = std::max(end, at_ + 1);
  if (mark->rounds > rounds_max_) return nested;
  for (std::size_t round = 0; round < mark->rounds; ++round) {
    nested.url = percent_decode(nested.url);
  }
  if (mark->rounds > 0) {
    std::string buffer;
    const std::string_view repaired = repair_utf8(nested.url, buffer);
    if (repaired.data() != nested.url.data()) nested.url = std::move(buffer);
  }
  if (mark->is_relative) nested.url.insert(0, "http:");
  return nested;
}

}  // namespace han::safety
