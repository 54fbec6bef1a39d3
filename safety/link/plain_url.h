// The short way for URLs that are serialised already but for letters in upper case, as nearly all
// are: http or https, no user, nothing to encode, no dots to resolve. Whatever is not surely so is
// left to UrlParser.
//
// Source: WHATWG URL, section 4.4; what it leaves as it is.
//
// Threads: pure function. Blocks: never. Limits: one pass, no allocation.
#pragma once

#include <optional>
#include <string_view>

#include "safety/link/url.h"

namespace han::safety {

struct PlainUrl {
  UrlLayout at;             // of the serialised form
  bool lacks_path = false;  // it has a '/' at path_begin, which the text has not
  bool has_upper = false;   // its scheme and host are the text's in lower case
};

std::optional<PlainUrl> read_plain_url(std::string_view text);

}  // namespace han::safety
