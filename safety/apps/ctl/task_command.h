// `safetyctl task` (show, cancel, retry, erase) and `tasks`: single tasks and lists of them.
//
// Threads: one thread. Blocks: while it runs. Limits: lists of 10,000 tasks.
#pragma once

#include "safety/apps/ctl/arguments.h"

namespace han::safety {

// Adds the commands to `app`; choosing one sets `command`.
void add_task_commands(CLI::App& app, Command& command);

}  // namespace han::safety
