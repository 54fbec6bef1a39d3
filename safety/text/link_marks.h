// Link marks: whether a text may hold a link at all.
//
// A text is marked when it has "://", "www." or "mailto:", ASCII case ignored. This only says that
// links must be looked for; what a link is, is judged elsewhere.
//
// Threads: pure function. Blocks: never. Limits: linear time.
#pragma once

#include <string_view>

namespace han::safety {

bool has_link_marks(std::string_view text);

}  // namespace han::safety
