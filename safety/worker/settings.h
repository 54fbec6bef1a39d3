// Settings: one worker process's own file: threads, leases, batch sizes, and where its parts are.
//
// Addresses and secrets are not in it: they come from the environment, or from files named by it
// (`NAME_FILE`). They are read at start; those of Redis again at each connect:
//
//     MESSAGE_SAFETY_DATABASE_URL     PostgreSQL, required
//     MESSAGE_SAFETY_REDIS_URL        Redis Safety; without it there is no hot cache and no wake-up
//     MESSAGE_SAFETY_REDIS_PASSWORD_FILE, _CA_FILE    see cache/endpoint.h
//     MESSAGE_SAFETY_PEPPER_FILE      required, see safety/base/pepper.h
//
// Threads: a value. Blocks: load_* read small files.
// Fails:   ConfigError "file:line: field: what is wrong and how to fix it"; never shows a value.
// Limits:  each number's range is in settings.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cache/endpoint.h"
#include "pgqueue/claim_planner.h"
#include "safety/bundle_loss.h"
#include "safety/telemetry/log.h"
#include "safety/yaml_file.h"

namespace han::safety {

struct Settings {
  std::string rules_path;  // a bundle's folder, or a rules file alone
  std::string config_path;
  int threads = 2;
  struct Claim {
    std::size_t batch = 500;
    std::size_t batch_min = 20;
    std::chrono::milliseconds target{500};
    std::chrono::milliseconds poll{1000};
    std::chrono::milliseconds sweep{1000};
    pgqueue::ClaimPolicy policy;  // class_wait_ms, aged_share_percent
  } claim;
  struct Completion {
    std::size_t batch = 1000;
    std::chrono::milliseconds flush{3};
    std::size_t buffer = 5000;
    int threads = 2;
  } completion;
  struct Lease {
    std::chrono::milliseconds duration{30'000};
    std::chrono::milliseconds heartbeat{10'000};
  } lease;
  // Used while the config asks for names to be resolved.
  struct Dns {
    std::vector<std::string> servers;            // empty: the system's
    std::chrono::milliseconds timeout{2'000};    // of all questions of a batch
    std::chrono::milliseconds try_timeout{800};  // of the first try at a server
    int tries = 2;
    std::chrono::seconds stale{0};  // how long beyond its end an answer may serve; 0: never
  } dns;
  std::chrono::milliseconds bundle_poll{2'000};
  int bundle_loss_percent = kLossPercentMax;  // see safety/bundle_loss.h; 100: nothing is refused
  int attempts_max = 5;
  int crashes_max = 2;
  std::chrono::milliseconds payload_ban{3'600'000};
  std::size_t text_bytes_max = 65'536;
  std::size_t local_cache_bytes = 64 * 1024 * 1024;
  std::chrono::milliseconds redis_timeout{50};
  std::chrono::milliseconds database_timeout{5'000};
  std::chrono::milliseconds shutdown_grace{10'000};
  std::string admin_host = "127.0.0.1";
  std::uint16_t admin_port = 0;  // 0: any free port, which the log names
  bool admin_is_on = true;
  bool has_audit = false;
  bool has_completion_log = false;
  int payload_retention_days = 0;  // 0: payloads are erased when their task finishes
  struct Retention {
    int results_days = 30;
    int verdict_days = 31;
    int audit_days = 90;
    int submissions_days = 30;
  } retention;
  LogLevel log_level = LogLevel::kInfo;
};

// Paths in the file are relative to it. Refuses lease.heartbeat_ms above a third of
// lease.duration_ms, claim.batch_min above claim.batch, and dns.try_timeout_ms above
// dns.timeout_ms.
Settings load_settings(const std::string& path);
Settings parse_settings(const std::string& name, std::string_view text);

struct Addresses {
  std::string database_url;
  std::optional<cache::RedisEndpoint> redis;
  std::string pepper_path;
};

// `environment` gives a variable's value; getenv in the program.
Addresses load_addresses(
    const std::function<std::optional<std::string>(const std::string&)>& environment);

}  // namespace han::safety
