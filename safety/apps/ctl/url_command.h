// safetyctl url: what a browser makes of a URL, and what the lists are asked with.
//
// Threads: one thread. Blocks: while the input is read.
#pragma once

#include "safety/apps/ctl/arguments.h"

namespace han::safety {

void add_url_command(CLI::App& app, Command& command);

}  // namespace han::safety
