// `safetyctl queue redrive`: dead letters as new tasks.
//
// Threads: one thread. Blocks: while it runs. Limits: 10,000 tasks a call.
#pragma once

#include "safety/apps/ctl/arguments.h"

namespace han::safety {

// Adds the command to `group`; choosing it sets `command`.
void add_redrive_command(CLI::App& group, Command& command);

}  // namespace han::safety
