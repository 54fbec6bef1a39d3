// The rules and the config that a command without a server judges with.
//
// Threads: one thread. Blocks: load_judge reads two files and compiles the rules.
// Fails:   Failure when nobody names a file; ConfigError when a file is refused.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "safety/text_judge.h"

namespace CLI {
class App;
}  // namespace CLI

namespace han::safety {

struct JudgeOptions {
  std::optional<std::string> rules;
  std::optional<std::string> config;
};

void add_judge_options(CLI::App& app, JudgeOptions& options);

// What no option names is taken from MESSAGE_SAFETY_RULES and MESSAGE_SAFETY_CONFIG.
TextJudge load_judge(const JudgeOptions& options);

// The day on which rules are activated: today, UTC.
std::chrono::sys_days activation_date();

}  // namespace han::safety
