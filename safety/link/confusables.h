// Labels that deceive the eye: mixed scripts, and letters that only look like ASCII.
//
// A label of one script whose letters all have ASCII look-alikes may still be a word: Russian and
// Greek have many, Turkish has the dotless i. So a table says which letters are at home under which
// top-level domains; a label whose letters outside ASCII are all at home there does not count.
// Under a domain such as "com", which is at home nowhere, it does. The table holds alphabets in
// daily use, from CLDR's exemplar characters, and only their letters that look like ASCII.
// Source: UTS #39 section 4 (skeleton), 5.2 (restriction levels); ICU's data of both.
//
// Threads: pure functions; ICU's checker is made once and then constant. Blocks: never. Limits:
// linear time; labels longer than 255 bytes are cut there.
#pragma once

#include <string>
#include <string_view>

namespace han::safety {

// The U-label (UTF-8) of a label that starts with "xn--"; "" when it is no valid one.
std::string unicode_label(std::string_view alabel);

// Requires: valid UTF-8.
bool is_mixed_script(std::string_view ulabel);

// True when `ulabel` is not ASCII, its skeleton is, and some letter of it is not at home under
// `top_domain` (an A-label). Requires: valid UTF-8.
bool is_confusable(std::string_view ulabel, std::string_view top_domain);

}  // namespace han::safety
