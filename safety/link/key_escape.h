// The escaping of policy keys: percent-escapes are removed until none is left, then only what could
// be misread is escaped again: bytes up to 0x20, from 0x7F, '#' and '%', as upper-case hex.
//
// Removing one escape at a time, in any order, ends in the same bytes (two escapes never overlap:
// '%' is no hex digit), so one pass with a look back at the last three bytes of the output does
// what repeated rounds do, however deep the nesting, in linear time. Escaping the result and
// unescaping it again gives the same bytes.
// Source: Safe Browsing API v4, "URLs and Hashing", Canonicalization.
//
// Threads: pure functions. Blocks: never. Limits: linear time; unescaped text is never longer than
// the input, escaped text at most 3 times as long.
#pragma once

#include <string>
#include <string_view>

namespace han::safety {

std::string without_escapes(std::string_view text);

void append_escaped(std::string_view bytes, std::string& out);

}  // namespace han::safety
