#include "safety/worker/settings.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace han::safety {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;
constexpr TextRange kPath{1, 4096};

milliseconds duration_or(const YamlNode& node, std::string_view key, IntegerRange range,
                         milliseconds fallback) {
  return milliseconds(node.integer_or(key, range, fallback.count()));
}

void read_claim(const YamlNode& node, Settings::Claim& claim) {
  node.allow_only({"batch", "poll_ms", "sweep_ms"});
  claim.batch = static_cast<std::size_t>(
      node.integer_or("batch", {1, 5000}, static_cast<std::int64_t>(claim.batch)));
  claim.poll = duration_or(node, "poll_ms", {10, 60'000}, claim.poll);
  claim.sweep = duration_or(node, "sweep_ms", {10, 60'000}, claim.sweep);
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

Settings read(const YamlNode& root) {
  root.allow_only({"schema", "rules", "config", "threads", "claim", "lease", "attempts_max",
                   "text_bytes_max", "local_cache_bytes", "redis_timeout_ms", "database_timeout_ms",
                   "shutdown_grace_ms", "admin", "keep_payloads", "completion_log", "log_level"});
  root.require_schema(1);
  Settings settings;
  settings.rules_path = root.required("rules").text(kPath);
  settings.config_path = root.required("config").text(kPath);
  settings.threads = static_cast<int>(root.integer_or("threads", {1, 64}, settings.threads));
  if (const auto claim = root.find("claim")) read_claim(*claim, settings.claim);
  if (const auto lease = root.find("lease")) read_lease(*lease, settings.lease);
  settings.attempts_max =
      static_cast<int>(root.integer_or("attempts_max", {1, 1000}, settings.attempts_max));
  settings.text_bytes_max =
      static_cast<std::size_t>(root.integer_or("text_bytes_max", {1, 1 << 20}, 65'536));
  settings.local_cache_bytes = static_cast<std::size_t>(root.integer_or(
      "local_cache_bytes", {0, 1LL << 34}, static_cast<std::int64_t>(settings.local_cache_bytes)));
  settings.redis_timeout =
      duration_or(root, "redis_timeout_ms", {1, 10'000}, settings.redis_timeout);
  settings.database_timeout =
      duration_or(root, "database_timeout_ms", {100, 600'000}, settings.database_timeout);
  settings.shutdown_grace =
      duration_or(root, "shutdown_grace_ms", {0, 600'000}, settings.shutdown_grace);
  if (const auto admin = root.find("admin")) read_admin(*admin, settings);
  settings.keeps_payloads = root.boolean_or("keep_payloads", false);
  settings.has_completion_log = root.boolean_or("completion_log", false);
  if (const auto level = root.find("log_level")) {
    settings.log_level = level->one_of<LogLevel>({{"debug", LogLevel::kDebug},
                                                  {"info", LogLevel::kInfo},
                                                  {"warning", LogLevel::kWarning},
                                                  {"error", LogLevel::kError}});
  }
  return settings;
}

// The value of NAME, or the content of the file that NAME_FILE names, without its last line end.
std::optional<std::string> secret(
    const std::string& name,
    const std::function<std::optional<std::string>(const std::string&)>& environment) {
  const auto path = environment(name + "_FILE");
  if (!path) return environment(name);
  std::ifstream file(*path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    throw ConfigError("environment", 0, name + "_FILE", "the file cannot be read or is empty");
  }
  std::string value = text.str();
  while (!value.empty() && (value.back() == '\n' || value.back() == '\r')) value.pop_back();
  return value;
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
  const auto database = secret("MESSAGE_SAFETY_DATABASE_URL", environment);
  if (!database || database->empty()) {
    throw ConfigError("environment", 0, "MESSAGE_SAFETY_DATABASE_URL",
                      "is not set; set it, or MESSAGE_SAFETY_DATABASE_URL_FILE, to PostgreSQL's "
                      "connection string");
  }
  addresses.database_url = *database;
  addresses.redis_url = secret("MESSAGE_SAFETY_REDIS_URL", environment);
  if (addresses.redis_url && addresses.redis_url->empty()) addresses.redis_url.reset();
  const auto pepper = environment("MESSAGE_SAFETY_PEPPER_FILE");
  if (!pepper || pepper->empty()) {
    throw ConfigError("environment", 0, "MESSAGE_SAFETY_PEPPER_FILE",
                      "is not set; set it to a file of one line: p1 and 64 hex digits");
  }
  addresses.pepper_path = *pepper;
  return addresses;
}

}  // namespace han::safety
