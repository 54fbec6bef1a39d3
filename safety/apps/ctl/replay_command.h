// safetyctl replay rebuild | verify: the caches made anew from PostgreSQL, and compared with it.
//
// Threads: one thread. Blocks: while the command runs.
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace han::safety {

struct Command;

void add_replay_command(CLI::App& app, Command& command);

}  // namespace han::safety
