// Config: policy, times to live and limits: what may change between two verdicts of the same rules.
//
// `version` is a digest of every effective value, so two files that mean the same have the same
// version and a file that relies on a default changes its version when the default does.
//
//     schema: 1
//     policy:
//       on_indeterminate: hold        # hold | block; never allow
//       block_severity_min: 0         # 0..100; a weaker blocking rule only monitors
//       categories: {spam: monitor}   # block | monitor, per category
//     ttl: {text_hours: 48, link_hours: 48, file_days: 30, dns_seconds: 900}
//     limits: {text_bytes_max: 65536}
//     links: {...}                    # see link_config.h
//
// Threads: a value. Blocks: load_config reads one file.
// Fails:   ConfigError "file:line: field: what is wrong and how to fix it"; nothing is half
// applied. Limits:  file 1 MiB, 1,000 category overrides; text 48 h, link 48 h, file 30 days, DNS
// 900 s.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "safety/link_config.h"
#include "safety/rule_table.h"
#include "safety/verdict.h"
#include "safety/yaml_file.h"

namespace han::safety {

// No process judges a longer text, whatever its config says.
inline constexpr std::size_t kTextBytesMax = std::size_t{1} << 20;

struct PolicyConfig {
  Disposition on_indeterminate = Disposition::kHold;
  int block_severity_min = 0;
  std::map<std::string, RuleAction, std::less<>> categories;
};

struct TtlConfig {
  std::chrono::seconds text = std::chrono::hours(48);
  std::chrono::seconds link = std::chrono::hours(48);
  std::chrono::seconds file = std::chrono::hours(24 * 30);
  std::chrono::seconds dns = std::chrono::seconds(900);
};

struct LimitsConfig {
  std::size_t text_bytes_max = 65536;
};

struct Config {
  PolicyConfig policy;
  TtlConfig ttl;
  LimitsConfig limits;
  LinksConfig links;
  std::string version;  // config_version: 32 lower-case hex digits
};

// The config of an empty file: every default, with its version.
Config default_config();
// `name` stands for the file in errors.
Config parse_config(const std::string& name, std::string_view text);
Config load_config(const std::string& path);

// The version of the values in `config`, whatever its `version` field says.
std::string config_version(const Config& config);

}  // namespace han::safety
