// `safetyctl explain text`: which rules hit a text, what each decides, and why.
//
// Threads: one thread. Blocks: while it runs.
#pragma once

#include "safety/apps/ctl/arguments.h"

namespace han::safety {

// Adds the command to `app`; choosing it sets `command`.
void add_explain_command(CLI::App& app, Command& command);

}  // namespace han::safety
