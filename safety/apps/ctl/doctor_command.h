// `safetyctl doctor`: whether Redis Safety and PostgreSQL are as they should be.
//
// Threads: one thread. Blocks: the command's run() for as long as the scan of the keys takes.
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace han::safety {

struct Command;

void add_doctor_command(CLI::App& app, Command& command);

}  // namespace han::safety
