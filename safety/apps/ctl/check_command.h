// `safetyctl check text`: a verdict without a server.
//
// Threads: one thread. Blocks: while it runs. Limits: with --lines 8 MiB a line are held; a longer
// string is over the limit of every config.
#pragma once

#include "safety/apps/ctl/arguments.h"

namespace han::safety {

// Adds the command to `app`; choosing it sets `command`.
void add_check_command(CLI::App& app, Command& command);

}  // namespace han::safety
