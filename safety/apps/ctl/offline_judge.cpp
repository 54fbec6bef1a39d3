#include "safety/apps/ctl/offline_judge.h"

#include <cstdlib>
#include <memory>

#include "safety/apps/ctl/arguments.h"
#include "safety/base/clock.h"
#include "safety/bundle.h"

namespace han::safety {
namespace {

std::string path_of(const std::optional<std::string>& option, const char* option_name,
                    const char* variable, const char* what) {
  if (option) return *option;
  const char* from_environment = std::getenv(variable);
  if (from_environment != nullptr && *from_environment != '\0') return from_environment;
  throw Failure(ExitCode::kUsage, std::string("no ") + what + " file is named",
                std::string("give ") + option_name + " FILE or set " + variable);
}

}  // namespace

void add_judge_options(CLI::App& app, JudgeOptions& options) {
  add_string(app, "--rules", options.rules,
             "Rules file or bundle folder (else MESSAGE_SAFETY_RULES)");
  add_string(app, "--config", options.config, "Config file (else MESSAGE_SAFETY_CONFIG)");
}

TextJudge load_judge(const JudgeOptions& options) {
  const std::string rules = path_of(options.rules, "--rules", "MESSAGE_SAFETY_RULES", "rules");
  const std::string config = path_of(options.config, "--config", "MESSAGE_SAFETY_CONFIG", "config");
  Config loaded = load_config(config);
  return {Bundle::load(rules, activation_date())->text_engine(), std::move(loaded)};
}

std::chrono::sys_days activation_date() {
  return std::chrono::floor<std::chrono::days>(system_clock().wall_now());
}

}  // namespace han::safety
