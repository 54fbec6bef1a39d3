// Host examples: `rules test` runs each live url-host rule's own `match` and `no_match` URLs.
//
// Such an example is one URL, or a host alone. It is looked up as a link's host is; one that has no
// host fails whatever it expects.
//
// Threads: pure function. Blocks: never. Fails: std::bad_alloc only.
#pragma once

#include <vector>

#include "safety/bundle.h"
#include "safety/text/rule_examples.h"

namespace han::safety {

// Examples whose rule did not do what they expect, in the order of rule ids.
std::vector<ExampleFailure> run_host_examples(const Bundle& bundle);

}  // namespace han::safety
