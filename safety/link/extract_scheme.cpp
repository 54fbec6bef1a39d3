#include "safety/link/extract_scheme.h"

#include <algorithm>
#include <array>

#include "safety/link/extract_char.h"

namespace han::safety {
namespace {

bool is_word(std::string_view text, std::string_view word) {
  return text.size() == word.size() && ends_with_word(text, word);
}

bool starts_with_word(std::string_view text, std::string_view word) {
  return ends_with_word(text.substr(0, word.size()), word);
}

std::string_view scheme_before(std::string_view text, std::size_t colon, std::size_t floor) {
  std::size_t start = colon;
  const std::size_t lowest = std::max(floor, colon - std::min(colon, kSchemeBytesMax));
  while (start > lowest && is_scheme_char(text[start - 1])) --start;
  while (start < colon && !is_ascii_letter(text[start])) ++start;
  return text.substr(start, colon - start);
}

// The length of the special scheme that `word` is, or ends with; 0: none. The short ones must stand
// alone, since other schemes end like them.
std::size_t web_scheme_size(std::string_view word) {
  for (const std::string_view scheme : {"https", "http"}) {
    if (ends_with_word(word, scheme)) return scheme.size();
  }
  for (const std::string_view scheme : {"ftp", "wss", "ws"}) {
    if (is_word(word, scheme)) return scheme.size();
  }
  return 0;
}

// Every media type begins with a letter; "Data:12/05,ore 10" is a date, plain text to a browser.
bool is_data(std::string_view rest) {
  if (!rest.empty() && !is_ascii_letter(rest.front()) && rest.front() != ';' &&
      rest.front() != ',') {
    return false;
  }
  std::size_t at = 0;
  while (at < rest.size() &&
         (is_scheme_char(rest[at]) || rest[at] == '/' || rest[at] == '=' || rest[at] == ';')) {
    ++at;
  }
  if (at == rest.size() || rest[at] != ',') return false;
  return at == 0 || rest.substr(0, at).find_first_of("/;") != std::string_view::npos;
}

// Its characters need not be those of schemes.
bool is_disguise_before(std::string_view text, std::size_t colon) {
  for (const std::size_t size : {std::size_t{4}, std::size_t{5}}) {
    if (colon >= size && is_disguised_http(text.substr(colon - size, size))) return true;
  }
  return false;
}

// Up to the first white space.
std::string_view first_run(std::string_view text) {
  text = text.substr(0, kObeyedBytesMax);
  return text.substr(0, text.find_first_of(" \t\r\n"));
}

// Without the punctuation at its end, with which no program ends that does something.
std::string_view without_last_punctuation(std::string_view run) {
  return run.substr(0, run.find_last_not_of("!?'\";") + 1);
}

// Where Markdown has a link's target nothing else is meant.
bool is_target(std::string_view text, std::size_t start) {
  const std::string_view before = text.substr(0, start);
  return before.ends_with("](") || before.ends_with("](<");
}

bool acts(std::string_view word) {
  return is_word(word, "javascript") || is_word(word, "vbscript") || is_word(word, "data") ||
         is_word(word, "file");
}

// Whether a program that is given "word:rest" does something with `rest`.
bool is_obeyed(std::string_view word, std::string_view rest) {
  if (is_word(word, "javascript") || is_word(word, "vbscript")) {
    return without_last_punctuation(first_run(rest)).find_first_of("(=`%[\\/&;<'\"+!?") !=
           std::string_view::npos;
  }
  if (is_word(word, "data")) return is_data(first_run(rest));
  if (is_word(word, "file")) return !rest.empty() && is_slash(rest.front());
  if (is_word(word, "magnet")) return rest.starts_with("?xt=");
  if (is_word(word, "intent")) return first_run(rest).find("#Intent;") != std::string_view::npos;
  // Programs of the desktop that take commands; their names are long enough to mean nothing else.
  const bool takes_commands = is_word(word, "search-ms") || starts_with_word(word, "ms-");
  return takes_commands && !rest.empty() &&
         (is_ascii_alnum(rest.front()) ||
          std::string_view("/{%?").find(rest.front()) != std::string_view::npos);
}

}  // namespace

bool ends_with_word(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  return std::equal(word.begin(), word.end(), text.end() - static_cast<std::ptrdiff_t>(word.size()),
                    [](char w, char t) { return w == ascii_lower(t); });
}

bool is_disguised_http(std::string_view word) {
  if (word.size() == 5 && ascii_lower(word.back()) == 's') word.remove_suffix(1);
  if (word.size() != 4 || ascii_lower(word[0]) != 'h' || ascii_lower(word[3]) != 'p') return false;
  const std::array<char, 2> middle{ascii_lower(word[1]), ascii_lower(word[2])};
  const auto is_filler = [](char c) {
    return c == 't' || c == 'x' || c == '*' || c == '_' || c == '#';
  };
  return is_filler(middle[0]) && is_filler(middle[1]) && !(middle[0] == 't' && middle[1] == 't');
}

std::optional<FoundScheme> find_scheme(std::string_view text, std::size_t colon,
                                       std::size_t floor) {
  const std::string_view word = scheme_before(text, colon, floor);
  if (word.empty()) return std::nullopt;
  std::size_t from = colon + 1;
  while (from < text.size() && is_slash(text[from])) ++from;
  const bool has_authority = text.substr(colon + 1, 2) == "//";
  if (const std::size_t size = web_scheme_size(word); size > 0) {
    const bool is_exact = from >= colon + 3;
    return FoundScheme{is_exact ? SchemeKind::kWeb : SchemeKind::kSloppy, colon - size, from};
  }
  const std::size_t start = colon - word.size();
  const bool is_ordered = is_target(text, start) && acts(word);
  if (is_ordered || is_obeyed(word, text.substr(colon + 1))) {
    return FoundScheme{SchemeKind::kObeyed, start, colon + 1};
  }
  // One letter is a drive; a disguised scheme is no scheme of its own.
  if (!has_authority || word.size() < 2 || is_disguise_before(text, colon)) return std::nullopt;
  return FoundScheme{SchemeKind::kOther, start, colon + 3};
}

}  // namespace han::safety
