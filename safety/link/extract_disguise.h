// Disguise: a text without what its writer put in so that its links are not seen as such.
//
// Taken off are: `hxxp`, `h**p` and the like before "://"; spaces and brackets around the colon of
// http and https (`http[:]//`, `http : //`); dots in brackets (`[.]`, `(dot)`, `{ . }`); dots
// written as a word between spaces (" dot ", its Russian counterpart) or with spaces (" . ") when
// what follows is a suffix of three or more letters, or goes on with a path or another such dot
// (" ." alone: only with a path);
// the Chinese word for a dot between letters or digits; characters as HTML references (`&#46;`,
// `&period;`); the backslash that Markdown takes off before punctuation (`good.com\@evil.com`);
// words spelled with a space after each letter when they hold a dot. Whether that leaves a link is
// not decided here: only links that cover such a place count.
//
// Threads: immutable values. Blocks: never.
// Limits:  linear time; the text is at most as long as the original.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "safety/link/extract_host.h"

namespace han::safety {

class Disguise {
 public:
  // nullopt: there was nothing to take off.
  static std::optional<Disguise> take_off(std::string_view text, HostTest& suffixes);

  const std::string& text() const { return text_; }

  // Whether bytes [begin, end) of text() hold a place where something was taken off.
  bool covers(std::size_t begin, std::size_t end) const;
  // The same for bytes of the original.
  bool covers_original(std::size_t begin, std::size_t end) const;
  // Where bytes of text() stand in the original. A byte of such a place stands for all of it.
  std::size_t original_begin(std::size_t begin) const;
  std::size_t original_end(std::size_t end) const;

 private:
  struct Place {
    std::size_t begin;  // in the original
    std::size_t end;
    std::size_t new_begin;  // in text()
    std::size_t new_end;
  };

  const Place* last_place_before(std::size_t new_offset) const;

  std::string text_;
  std::vector<Place> places_;
};

}  // namespace han::safety
