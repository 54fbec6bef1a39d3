// safetyctl classify-ip: what addresses are used for by IANA's registries.
//
// Threads: one thread. Blocks: while the input is read.
#pragma once

#include "safety/apps/ctl/arguments.h"

namespace han::safety {

void add_classify_ip_command(CLI::App& app, Command& command);

}  // namespace han::safety
