// Marks: the places of a text where a link can be looked for, found sixteen bytes at a time.
//
// A link mark is a colon behind a letter or digit, or a dot between characters of a host; also the
// full stops U+3002, U+FF0E and U+FF61. A disguise mark is what may stand for a colon or a dot (see
// extract_disguise.h). What has no mark holds no link, and most texts have none.
//
// Threads: pure functions. Blocks: never. Limits: linear time.
#pragma once

#include <cstddef>
#include <string_view>

namespace han::safety {

// The first mark at or after `from`, or npos. The mark of a dot word is its middle: the `o` of
// "dot", the third letter of its Russian counterpart.
std::size_t next_link_mark(std::string_view text, std::size_t from);
std::size_t next_disguise_mark(std::string_view text, std::size_t from);

struct MarkPresence {
  bool links = false;
  bool disguises = false;
};

// May say yes where the functions above find none; never the other way round. One pass.
MarkPresence marks_in(std::string_view text);

}  // namespace han::safety
