// `safetyctl queue`: stats, watch, pause, resume and redrive.
//
// Threads: one thread. Blocks: while it runs. Limits: it counts at most --bound rows of each sort.
#pragma once

#include "safety/apps/ctl/arguments.h"

namespace han::safety {

// Adds the command to `app`; choosing it sets `command`.
void add_queue_command(CLI::App& app, Command& command);

}  // namespace han::safety
