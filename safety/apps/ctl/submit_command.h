// `safetyctl submit text`: puts texts into the queue, and waits for their verdicts if asked to.
//
// Threads: one thread, and the publisher's. Blocks: while it runs.
// Limits:  1,000 tasks or 8 MiB of text in one transaction; --wait waits for 1,000,000 tasks.
#pragma once

#include "safety/apps/ctl/arguments.h"

namespace han::safety {

// Adds the command to `app`; choosing it sets `command`.
void add_submit_command(CLI::App& app, Command& command);

}  // namespace han::safety
