// A verdict as JSON, as a table and as an exit code (SPEC section 10).
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <vector>

#include "safety/apps/ctl/failure.h"
#include "safety/apps/ctl/output.h"
#include "safety/verdict.h"

namespace han::safety {

// Exactly the keys that SPEC section 10 names, in its order.
Json verdict_json(const Verdict& verdict, Layer layer);
void add_verdict(FieldTable& table, const Verdict& verdict, Layer layer);

ExitCode exit_code(Decision decision);

}  // namespace han::safety
