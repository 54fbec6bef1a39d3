// `safetyctl check text` and `check link`: a verdict without a server but those of the DNS.
//
// With --lines, lines that are there together are judged together, so their hosts are resolved at
// once; what is there is answered before the input is waited for.
//
// Threads: one thread. Blocks: while it runs. Limits: with --lines 128 lines and 1 MiB are held at
// once, and a line of 8 MiB beyond; a longer string is over the limit of every config.
#pragma once

#include "safety/apps/ctl/arguments.h"

namespace han::safety {

// Adds the command to `app`; choosing it sets `command`.
void add_check_command(CLI::App& app, Command& command);

}  // namespace han::safety
