// Verdict load: many verdict rows of texts, as a worker writes them, for what is measured.
//
// Threads: one thread at a time. Owns: nothing. Blocks: about 10 s a million rows.
// Fails:   pgqueue::Error.
#pragma once

#include <cstddef>
#include <string>

#include "safety/base/pepper.h"

namespace han::tests {

// Rows number `first` to `first` + `count` - 1, with two rules that hit.
void load_text_verdicts(const std::string& conninfo, const safety::PepperSet& peppers,
                        std::size_t first, std::size_t count);

// Bytes of the evidence of such a row.
std::size_t text_verdict_bytes(const safety::PepperSet& peppers);

}  // namespace han::tests
