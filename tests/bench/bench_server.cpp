#include "tests/bench/bench_server.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace han::tests {
namespace {

PgServerOptions options_with(std::vector<std::string> settings) {
  PgServerOptions options;
  options.is_on_disk = true;
  // All of them are what a small production server runs with; fsync stays on. The long
  // checkpoint_timeout keeps checkpoints out of the runs; min_wal_size lets the log's files be used
  // again, as they are on any server that has run for a while, instead of being made during a run.
  settings.insert(settings.begin(),
                  {"fsync=on", "full_page_writes=on", "shared_buffers=512MB", "min_wal_size=2GB",
                   "max_wal_size=4GB", "checkpoint_timeout=30min"});
  for (std::string& setting : settings) {
    options.arguments.emplace_back("-c");
    options.arguments.push_back(std::move(setting));
  }
  return options;
}

struct ProcessTimes {
  long parent = 0;
  double own = 0;
  double ended_children = 0;
};

// Fields of /proc/PID/stat, see proc(5); all zero when the process has ended.
ProcessTimes times_of(const std::filesystem::path& folder) {
  std::ifstream file(folder / "stat");
  std::string text;
  std::getline(file, text);
  const auto after_name = text.rfind(')');
  if (after_name == std::string::npos) return {};
  std::istringstream fields(text.substr(after_name + 1));
  char state = ' ';
  ProcessTimes times;
  fields >> state >> times.parent;
  long skipped = 0;
  for (int field = 5; field <= 13; ++field) fields >> skipped;
  double user = 0;
  double system = 0;
  double children_user = 0;
  double children_system = 0;
  fields >> user >> system >> children_user >> children_system;
  const auto ticks_a_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  times.own = (user + system) / ticks_a_second;
  times.ended_children = (children_user + children_system) / ticks_a_second;
  return times;
}

bool is_number(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

BenchServer::BenchServer(std::vector<std::string> settings)
    : server_(options_with(std::move(settings))) {}

std::string BenchServer::settings() const {
  return pg_value(
      server_.conninfo(),
      "SELECT 'PostgreSQL ' || split_part(version(), ' ', 2) || ': ' || "
      "string_agg(name || '=' || current_setting(name), ' ' ORDER BY name) "
      "FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'shared_buffers', "
      "'min_wal_size', 'max_wal_size', 'wal_level', 'checkpoint_timeout', 'synchronous_commit', "
      "'autovacuum_naptime')");
}

std::string BenchServer::make_database() {
  const std::string conninfo = server_.make_database();
  checkpoint();
  return conninfo;
}

std::string BenchServer::make_empty_database() {
  const std::string name = "empty_" + std::to_string(++empty_databases_made_);
  pg_execute(server_.conninfo(), "CREATE DATABASE " + name);
  checkpoint();
  return server_.conninfo(name);
}

void BenchServer::checkpoint() { pg_execute(server_.conninfo(), "CHECKPOINT"); }

void BenchServer::drop_database(const std::string& conninfo) {
  const std::string name = conninfo.substr(conninfo.find("dbname=") + 7);
  pg_execute(server_.conninfo(), "DROP DATABASE " + name + " WITH (FORCE)");
}

std::int64_t BenchServer::wal_bytes() const {
  return std::stoll(pg_value(server_.conninfo(), "SELECT pg_current_wal_insert_lsn() - '0/0'"));
}

double BenchServer::cpu_seconds() const {
  std::ifstream pid_file(std::filesystem::path(server_.dir().file("data")) / "postmaster.pid");
  long postmaster = 0;
  pid_file >> postmaster;
  double seconds = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (!is_number(name)) continue;
    const ProcessTimes times = times_of(entry.path());
    if (std::stol(name) == postmaster) seconds += times.own + times.ended_children;
    if (times.parent == postmaster) seconds += times.own;
  }
  return seconds;
}

double own_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace han::tests
