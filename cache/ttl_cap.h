// The longest that a key of each kind may live in Redis, whatever the config says.
//
// Threads: a pure function. Blocks: never.
#pragma once

#include <chrono>

#include "cache/key.h"

namespace han::cache {

// SPEC section 5; a window of the rate limit is at most a day, with a jitter of at most 30 %.
std::chrono::milliseconds ttl_cap(KeyKind kind);

}  // namespace han::cache
