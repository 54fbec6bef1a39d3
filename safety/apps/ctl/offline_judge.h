// OfflineJudge: the rules, lists and the config that a command without a server judges with, and
// the DNS servers that it asks for hosts.
//
// Threads: one thread. Owns: all that it loaded, and the resolver's thread.
// Blocks:  the constructor reads the files and compiles the rules; judging as HostFactsSource.
// Fails:   Failure when nobody names a file; ConfigError when a file is refused.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "safety/apps/ctl/host_facts.h"
#include "safety/subject_judge.h"

namespace CLI {
class App;
}  // namespace CLI

namespace han::safety {

struct JudgeOptions {
  std::optional<std::string> rules;
  std::optional<std::string> config;
  std::optional<std::string> peppers;
  std::vector<std::string> dns_servers;
  bool no_dns = false;
};

void add_judge_options(CLI::App& app, JudgeOptions& options);

class OfflineJudge {
 public:
  // What no option names is taken from MESSAGE_SAFETY_RULES, MESSAGE_SAFETY_CONFIG and
  // MESSAGE_SAFETY_PEPPER_FILE; without peppers hashes are of this run alone.
  explicit OfflineJudge(const JudgeOptions& options);

  const SubjectJudge& subjects() const { return *subjects_; }
  const TextEngine& engine() const { return subjects_->engine(); }
  const Config& config() const { return subjects_->config(); }
  // Null when names are not resolved.
  const HostFactsSource* hosts() const { return hosts_.get(); }

 private:
  std::unique_ptr<HostFactsSource> hosts_;
  std::unique_ptr<SubjectJudge> subjects_;
};

// The day on which rules are activated: today, UTC.
std::chrono::sys_days activation_date();

}  // namespace han::safety
