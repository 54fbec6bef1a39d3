// `safetyctl migrate`: brings the database's schema up to this program's, and makes its roles.
//
// Threads: one thread. Blocks: while it runs, up to an hour for each file.
#pragma once

#include "safety/apps/ctl/arguments.h"

namespace han::safety {

// Adds the command to `app`; choosing it sets `command`.
void add_migrate_command(CLI::App& app, Command& command);

}  // namespace han::safety
