// From what the resolver says to what the judge needs to know.
//
// Threads: pure functions. Blocks: never.
#pragma once

#include "dns/answer.h"
#include "safety/base/pepper.h"
#include "safety/link_facts.h"

namespace han::safety {

// Names of the chain become HMACs under `pepper`.
DnsFacts facts_of(const dns::Resolution& resolution, const Pepper& pepper);

}  // namespace han::safety
