// safetyctl extract: the links of texts, one JSON string a line.
//
// Threads: one thread. Blocks: while the input is read.
#pragma once

#include "safety/apps/ctl/arguments.h"

namespace han::safety {

void add_extract_command(CLI::App& app, Command& command);

}  // namespace han::safety
