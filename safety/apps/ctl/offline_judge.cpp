#include "safety/apps/ctl/offline_judge.h"

#include <cstdlib>
#include <utility>

#include "safety/apps/ctl/arguments.h"
#include "safety/apps/ctl/pepper_file.h"
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

std::shared_ptr<const PepperSet> peppers_of(const JudgeOptions& options) {
  auto named = named_peppers(options.peppers);
  return std::make_shared<const PepperSet>(named ? std::move(*named) : random_peppers());
}

}  // namespace

void add_judge_options(CLI::App& app, JudgeOptions& options) {
  add_string(app, "--rules", options.rules,
             "Rules file, or folder with rules and lists (else MESSAGE_SAFETY_RULES)");
  add_string(app, "--config", options.config, "Config file (else MESSAGE_SAFETY_CONFIG)");
  add_pepper_option(app, options.peppers);
  add_strings(app, "--dns-server", options.dns_servers,
              "Ask this DNS server, ADDRESS or ADDRESS:PORT, not the system's; may be repeated");
  add_flag(app, "--no-dns", options.no_dns,
           "Resolve no names: links that need it are indeterminate");
}

OfflineJudge::OfflineJudge(const JudgeOptions& options) {
  const std::string rules = path_of(options.rules, "--rules", "MESSAGE_SAFETY_RULES", "rules");
  const std::string config = path_of(options.config, "--config", "MESSAGE_SAFETY_CONFIG", "config");
  if (options.no_dns && !options.dns_servers.empty()) {
    throw Failure(ExitCode::kUsage, "--no-dns and --dns-server contradict each other",
                  "give one of them");
  }
  Config loaded = load_config(config);
  auto peppers = peppers_of(options);
  auto bundle = Bundle::load(rules, activation_date());
  if (!options.no_dns && loaded.links.dns == DnsUse::kRequired) {
    hosts_ = std::make_unique<HostFactsSource>(options.dns_servers, peppers);
  }
  subjects_ = std::make_unique<SubjectJudge>(std::move(bundle), std::move(loaded),
                                             std::move(peppers), hosts_.get());
}

std::chrono::sys_days activation_date() {
  return std::chrono::floor<std::chrono::days>(system_clock().wall_now());
}

}  // namespace han::safety
