#include "safety/worker/settings.h"

#include <algorithm>
#include <filesystem>

#include "dns/channel.h"
#include "safety/secret_text.h"

namespace han::safety {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;
constexpr TextRange kPath{1, 4096};

milliseconds duration_or(const YamlNode& node, std::string_view key, IntegerRange range,
                         milliseconds fallback) {
  return milliseconds(node.integer_or(key, range, fallback.count()));
}

std::size_t size_or(const YamlNode& node, std::string_view key, IntegerRange range,
                    std::size_t fallback) {
  return static_cast<std::size_t>(node.integer_or(key, range, static_cast<std::int64_t>(fallback)));
}

int count_or(const YamlNode& node, std::string_view key, IntegerRange range, int fallback) {
  return static_cast<int>(node.integer_or(key, range, fallback));
}

// One number for all classes, or one for each.
pgqueue::ClaimPolicy::WaitMax read_class_waits(const YamlNode& node) {
  constexpr IntegerRange kWaitMs{100, kDayMs};
  if (!node.is_list()) {
    return pgqueue::ClaimPolicy::every_class(milliseconds(node.integer(kWaitMs)));
  }
  pgqueue::ClaimPolicy::WaitMax waits;
  const auto items = node.items(waits.size());
  if (items.size() != waits.size()) node.fail("must be one number, or a list of 10: classes 0-9");
  for (std::size_t i = 0; i < waits.size(); ++i) {
    waits.at(i) = milliseconds(items[i].integer(kWaitMs));
  }
  return waits;
}

void read_claim(const YamlNode& node, Settings::Claim& claim) {
  node.allow_only({"batch", "batch_min", "target_ms", "poll_ms", "sweep_ms", "class_wait_ms",
                   "aged_share_percent"});
  claim.batch = size_or(node, "batch", {1, 5000}, claim.batch);
  claim.batch_min = size_or(node, "batch_min", {1, 5000}, std::min(claim.batch_min, claim.batch));
  if (claim.batch_min > claim.batch) node.fail("batch_min must be at most batch");
  claim.target = duration_or(node, "target_ms", {10, 60'000}, claim.target);
  claim.poll = duration_or(node, "poll_ms", {10, 60'000}, claim.poll);
  claim.sweep = duration_or(node, "sweep_ms", {10, 60'000}, claim.sweep);
  if (const auto waits = node.find("class_wait_ms")) {
    claim.policy.wait_max = read_class_waits(*waits);
  }
  claim.policy.aged_share_percent =
      count_or(node, "aged_share_percent", {1, 90}, claim.policy.aged_share_percent);
}

void read_completion(const YamlNode& node, Settings::Completion& completion) {
  node.allow_only({"batch", "flush_ms", "buffer", "threads"});
  completion.batch = size_or(node, "batch", {1, 10'000}, completion.batch);
  completion.flush = duration_or(node, "flush_ms", {0, 1000}, completion.flush);
  completion.buffer = size_or(node, "buffer", {1, 1'000'000}, completion.buffer);
  completion.threads = count_or(node, "threads", {1, 16}, completion.threads);
}

void read_retention(const YamlNode& node, Settings::Retention& retention) {
  constexpr int kDaysMax = 3650;
  node.allow_only({"results_days", "verdict_days", "audit_days", "submissions_days"});
  // The least of each is the database's own: see migrations/0003_partitions.sql.
  retention.results_days = count_or(node, "results_days", {3, kDaysMax}, retention.results_days);
  retention.verdict_days = count_or(node, "verdict_days", {31, kDaysMax}, retention.verdict_days);
  retention.audit_days = count_or(node, "audit_days", {1, kDaysMax}, retention.audit_days);
  retention.submissions_days =
      count_or(node, "submissions_days", {1, kDaysMax}, retention.submissions_days);
}

void read_lease(const YamlNode& node, Settings::Lease& lease) {
  node.allow_only({"duration_ms", "heartbeat_ms"});
  lease.duration = duration_or(node, "duration_ms", {300, kDayMs}, lease.duration);
  lease.heartbeat = duration_or(node, "heartbeat_ms", {100, kDayMs / 3}, lease.duration / 3);
  if (lease.heartbeat * 3 > lease.duration) {
    node.fail(
        "heartbeat_ms must be at most a third of duration_ms, or a lease can run out "
        "between two heartbeats");
  }
}

void read_admin(const YamlNode& node, Settings& settings) {
  node.allow_only({"enabled", "host", "port"});
  settings.admin_is_on = node.boolean_or("enabled", true);
  settings.admin_host = node.text_or("host", {1, 255}, settings.admin_host);
  settings.admin_port =
      static_cast<std::uint16_t>(node.integer_or("port", {0, 65'535}, settings.admin_port));
}

void read_dns(const YamlNode& node, Settings::Dns& dns) {
  constexpr std::size_t kServersMax = 16;
  node.allow_only({"servers", "timeout_ms", "try_timeout_ms", "tries", "stale_seconds"});
  if (const auto servers = node.find("servers")) {
    for (const YamlNode& server : servers->items(kServersMax)) {
      dns.servers.push_back(server.text({1, 64}));
      if (han::dns::is_server(dns.servers.back())) continue;
      server.fail(
          "is no server; write an address, with a port if it is not 53: 192.0.2.1:5353 or "
          "[2001:db8::1]:5353");
    }
  }
  dns.timeout = duration_or(node, "timeout_ms", {10, 60'000}, dns.timeout);
  dns.try_timeout =
      duration_or(node, "try_timeout_ms", {10, 60'000}, std::min(dns.try_timeout, dns.timeout));
  if (dns.try_timeout > dns.timeout) node.fail("try_timeout_ms must be at most timeout_ms");
  dns.tries = count_or(node, "tries", {1, 10}, dns.tries);
  dns.stale = std::chrono::seconds(node.integer_or("stale_seconds", {0, 86'400}, 0));
}

Settings read(const YamlNode& root) {
  root.allow_only({"schema",
                   "rules",
                   "config",
                   "threads",
                   "claim",
                   "completion",
                   "lease",
                   "dns",
                   "bundle_poll_ms",
                   "bundle_loss_percent",
                   "attempts_max",
                   "crashes_max",
                   "payload_ban_ms",
                   "text_bytes_max",
                   "local_cache_bytes",
                   "redis_timeout_ms",
                   "database_timeout_ms",
                   "shutdown_grace_ms",
                   "admin",
                   "audit",
                   "completion_log",
                   "payload_retention_days",
                   "retention",
                   "log_level"});
  root.require_schema(1);
  Settings settings;
  settings.rules_path = root.required("rules").text(kPath);
  settings.config_path = root.required("config").text(kPath);
  settings.threads = count_or(root, "threads", {1, 64}, settings.threads);
  if (const auto claim = root.find("claim")) read_claim(*claim, settings.claim);
  if (const auto node = root.find("completion")) read_completion(*node, settings.completion);
  if (const auto lease = root.find("lease")) read_lease(*lease, settings.lease);
  if (const auto dns = root.find("dns")) read_dns(*dns, settings.dns);
  settings.bundle_poll = duration_or(root, "bundle_poll_ms", {10, 3'600'000}, settings.bundle_poll);
  settings.bundle_loss_percent =
      count_or(root, "bundle_loss_percent", {0, 100}, settings.bundle_loss_percent);
  settings.attempts_max = count_or(root, "attempts_max", {1, 1000}, settings.attempts_max);
  settings.crashes_max = count_or(root, "crashes_max", {1, 100}, settings.crashes_max);
  settings.payload_ban =
      duration_or(root, "payload_ban_ms", {1, 30 * kDayMs}, settings.payload_ban);
  settings.text_bytes_max = size_or(root, "text_bytes_max", {1, 1 << 20}, settings.text_bytes_max);
  settings.local_cache_bytes =
      size_or(root, "local_cache_bytes", {0, 1LL << 34}, settings.local_cache_bytes);
  settings.redis_timeout =
      duration_or(root, "redis_timeout_ms", {1, 10'000}, settings.redis_timeout);
  settings.database_timeout =
      duration_or(root, "database_timeout_ms", {100, 600'000}, settings.database_timeout);
  settings.shutdown_grace =
      duration_or(root, "shutdown_grace_ms", {0, 600'000}, settings.shutdown_grace);
  if (const auto admin = root.find("admin")) read_admin(*admin, settings);
  settings.has_audit = root.boolean_or("audit", false);
  settings.has_completion_log = root.boolean_or("completion_log", false);
  settings.payload_retention_days =
      count_or(root, "payload_retention_days", {0, 3650}, settings.payload_retention_days);
  if (const auto node = root.find("retention")) read_retention(*node, settings.retention);
  if (const auto level = root.find("log_level")) {
    settings.log_level = level->one_of<LogLevel>({{"debug", LogLevel::kDebug},
                                                  {"info", LogLevel::kInfo},
                                                  {"warning", LogLevel::kWarning},
                                                  {"error", LogLevel::kError}});
  }
  return settings;
}

}  // namespace

Settings parse_settings(const std::string& name, std::string_view text) {
  return read(YamlDocument::parse(name, text).root());
}

Settings load_settings(const std::string& path) {
  Settings settings = read(YamlDocument::load(path).root());
  const auto folder = std::filesystem::path(path).parent_path();
  settings.rules_path = (folder / settings.rules_path).string();
  settings.config_path = (folder / settings.config_path).string();
  return settings;
}

Addresses load_addresses(
    const std::function<std::optional<std::string>(const std::string&)>& environment) {
  Addresses addresses;
  const auto database = secret_text("MESSAGE_SAFETY_DATABASE_URL", environment);
  if (!database || database->empty()) {
    throw ConfigError("environment", 0, "MESSAGE_SAFETY_DATABASE_URL",
                      "is not set; set it, or MESSAGE_SAFETY_DATABASE_URL_FILE, to PostgreSQL's "
                      "connection string");
  }
  addresses.database_url = *database;
  try {
    addresses.redis = cache::RedisEndpoint::from_environment("MESSAGE_SAFETY_REDIS", environment);
  } catch (const cache::UrlError& error) {
    throw ConfigError("environment", 0, "MESSAGE_SAFETY_REDIS_URL", error.what());
  }
  const auto pepper = environment("MESSAGE_SAFETY_PEPPER_FILE");
  if (!pepper || pepper->empty()) {
    throw ConfigError("environment", 0, "MESSAGE_SAFETY_PEPPER_FILE",
                      "is not set; set it to a file of one line: p1 and 64 hex digits");
  }
  addresses.pepper_path = *pepper;
  return addresses;
}

}  // namespace han::safety
