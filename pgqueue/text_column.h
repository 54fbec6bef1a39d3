// text_column: any bytes as text that a PostgreSQL text column takes.
//
// NUL is dropped, ill-formed UTF-8 becomes U+FFFD, and the text is cut on a character boundary: a
// failure's reason must reach the database whatever it holds, or the task could never be given back
// (R15).
//
// Threads: a pure function. Blocks: never. Limits: at most `bytes_max` bytes.
// Source: PostgreSQL documentation, "Character Types" (no NUL); RFC 3629 (UTF-8).
#pragma once

#include <string>
#include <string_view>

namespace han::pgqueue {

std::string text_column(std::string_view bytes, std::size_t bytes_max);

}  // namespace han::pgqueue
