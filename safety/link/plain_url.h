// The short way for URLs that are serialised already, as nearly all are: http or https, a host in
// lower case, nothing to encode, no dots to resolve, no port, no user. Whatever is not surely so is
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

// Where the parts of `text` are. When path_begin is not the place of a '/', the path is absent and
// the serialised form has a '/' there; the places after it count that '/'.
std::optional<UrlLayout> read_plain_url(std::string_view text);

}  // namespace han::safety
