// `safetyctl rules lint` and `rules test`: is a rules file fit to be used?
//
// Threads: one thread. Blocks: while it runs. Limits: those of safety/text/rules_file.h.
#pragma once

#include "safety/apps/ctl/arguments.h"

namespace han::safety {

// Adds the commands to `app`; choosing one sets `command`.
void add_rules_command(CLI::App& app, Command& command);

}  // namespace han::safety
