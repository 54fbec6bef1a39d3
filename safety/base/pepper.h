// PepperSet: the secret keys of every hash that stands for something personal.
//
// A set is {current, previous}: both are read, only the current one is written, so a pepper rotates
// without losing the caches. Rows and cached values name the id of the pepper that made them.
//
// File: one line a pepper, "<id> <64 hex digits or more>", the current one first, at most two
// lines;
// '#' starts a comment. An id is 1-16 characters of [a-z0-9_-].
//
// Threads:   immutable after construction; safe to share.
// Fails:     PepperError, which names the line and the fault, never the content.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "safety/base/digest.h"

namespace han::safety {

class PepperError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Pepper {
  std::string id;
  HmacKey key;
};

struct PepperSet {
  Pepper current;
  std::optional<Pepper> previous;
};

PepperSet parse_peppers(std::string_view file_text);
PepperSet load_peppers(const std::string& path);

}  // namespace han::safety
