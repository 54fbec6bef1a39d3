#include "tests/support/pg_server.h"

#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "pgqueue/connection.h"
#include "pgqueue/error.h"
#include "pgqueue/migrator.h"
#include "pgqueue/transaction.h"
#include "tests/support/await.h"

namespace han::tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUser = "postgres";

safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(60)); }

constexpr char kGone = ' ';

struct ProcessStat {
  char state = kGone;
  pid_t parent = 0;
};

ProcessStat stat_of(pid_t pid) {
  std::ifstream file(fs::path("/proc") / std::to_string(pid) / "stat");
  std::string text;
  std::getline(file, text);
  ProcessStat stat;
  // The name before it may hold anything.
  const auto after_name = text.rfind(')');
  if (after_name == std::string::npos) return stat;
  std::istringstream fields(text.substr(after_name + 1));
  fields >> stat.state >> stat.parent;
  return stat;
}

std::string binary_folder() {
  std::vector<std::string> found;
  const fs::path root = "/usr/lib/postgresql";
  if (fs::exists(root)) {
    for (const auto& entry : fs::directory_iterator(root)) {
      if (fs::exists(entry.path() / "bin" / "initdb")) found.push_back(entry.path() / "bin");
    }
  }
  if (found.empty()) throw std::runtime_error("PostgreSQL is missing: apt-get install postgresql");
  return *std::max_element(found.begin(), found.end());
}

constexpr std::uintmax_t kRoom = std::uintmax_t{4} << 30;

fs::path parent_folder(const PgServerOptions& options) {
  const fs::path memory = "/dev/shm";
  std::error_code absent;
  const fs::space_info space = fs::space(memory, absent);
  const bool has_room = !absent && space.available >= kRoom;
  return has_room && !options.is_on_disk ? memory : fs::temp_directory_path();
}

}  // namespace

PgServer::PgServer(PgServerOptions options)
    : options_(std::move(options)), dir_(parent_folder(options_)), bin_(binary_folder()) {
  take_folder();
  run_to_end({bin_ + "/initdb", "-D", dir_.file("data"), "-U", kUser, "-A", "trust", "--no-locale",
              "-E", "UTF8", "--no-sync", "--no-instructions"});
  start();
  pg_execute(conninfo(), "CREATE DATABASE safety_template");
  pgqueue::Connection connection(conninfo("safety_template"), soon());
  pgqueue::Migrator migrator(connection);
  migrator.migrate(soon());
  migrator.apply_roles({}, soon());
}

PgServer::PgServer(StandbyOf of, PgServerOptions options)
    : options_(std::move(options)), dir_(parent_folder(options_)), bin_(binary_folder()) {
  take_folder();
  run_to_end({bin_ + "/pg_basebackup", "-d", of.primary.conninfo() + " application_name=standby",
              "-D", dir_.file("data"), "-R", "-X", "stream", "-c", "fast", "--no-sync"});
  start();
  const bool is_streaming = await([&] {
    return pg_value(of.primary.conninfo(),
                    "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND "
                    "replay_lsn = pg_current_wal_lsn()") == "1";
  });
  if (!is_streaming) throw std::runtime_error("the standby does not catch up: " + log());
}

PgServer::~PgServer() {
  if (process_ && process_->is_running()) crash();
}

void PgServer::take_folder() {
  if (::geteuid() != 0) return;
  const passwd* user = ::getpwnam(kUser);
  if (user == nullptr) throw std::runtime_error("no user postgres: apt-get install postgresql");
  if (::chown(dir_.path().c_str(), user->pw_uid, user->pw_gid) != 0) {
    throw std::runtime_error("the server's folder cannot be given to user postgres");
  }
}

void PgServer::run_to_end(std::vector<std::string> argv) {
  const std::string name = argv.front();
  Process process({.argv = std::move(argv),
                   .run_as = kUser,
                   .output_path = dir_.file("setup.log"),
                   .directory = dir_.path()});
  const auto status = process.wait(soon());
  if (!status || status->code != 0) {
    throw std::runtime_error(name + " failed: " + process.output());
  }
}

void PgServer::start() {
  std::vector<std::string> argv = {bin_ + "/postgres",
                                   "-D",
                                   dir_.file("data"),
                                   "-c",
                                   "listen_addresses=",
                                   "-c",
                                   "unix_socket_directories=" + dir_.path().string(),
                                   "-c",
                                   "shared_buffers=128MB",
                                   "-c",
                                   "max_connections=100",
                                   "-c",
                                   "wal_level=replica",
                                   "-c",
                                   options_.is_on_disk ? "fsync=on" : "fsync=off"};
  argv.insert(argv.end(), options_.arguments.begin(), options_.arguments.end());
  process_.emplace(ProcessOptions{.argv = std::move(argv),
                                  .env = options_.env,
                                  .run_as = kUser,
                                  .output_path = dir_.file("server.log"),
                                  .directory = dir_.path()});
  const bool is_up = await(
      [this] {
        if (!process_->is_running()) throw std::runtime_error("postgres ended: " + log());
        try {
          const pgqueue::Connection probe(conninfo() + " target_session_attrs=any",
                                          safety::Deadline::after(std::chrono::seconds(5)));
          return true;
        } catch (const pgqueue::Error&) {
          return false;
        }
      },
      std::chrono::seconds(60));
  if (!is_up) throw std::runtime_error("postgres does not answer: " + log());
}

void PgServer::stop() {
  process_->signal(SIGINT);
  if (!process_->wait(soon())) throw std::runtime_error("postgres does not stop");
}

void PgServer::crash() {
  process_->signal(SIGQUIT);
  if (!process_->wait(soon())) process_->kill();
}

// Children are found by their parent's pid.
std::vector<pid_t> PgServer::processes() const {
  std::vector<pid_t> found = {process_->pid()};
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto pid = static_cast<pid_t>(std::stol(name));
    if (stat_of(pid).parent == process_->pid()) found.push_back(pid);
  }
  return found;
}

// A stopped postmaster still has running backends: each process is signalled. It comes first, so
// that it starts none meanwhile.
void PgServer::pause() {
  process_->signal(SIGSTOP);
  for (const pid_t pid : processes()) ::kill(pid, SIGSTOP);
}

void PgServer::resume() {
  for (const pid_t pid : processes()) ::kill(pid, SIGCONT);
}

void PgServer::kill() {
  process_->signal(SIGSTOP);
  const std::vector<pid_t> all = processes();
  for (auto pid = all.rbegin(); pid != all.rend(); ++pid) ::kill(*pid, SIGKILL);
  process_->kill();
  // The shared memory is free only when the last of them is gone.
  const bool are_gone = await([&] {
    return std::all_of(all.begin(), all.end(), [](pid_t pid) {
      const char state = stat_of(pid).state;
      return state == kGone || state == 'Z';
    });
  });
  if (!are_gone) throw std::runtime_error("a killed process of postgres does not end");
}

void PgServer::promote() {
  pg_execute(conninfo() + " target_session_attrs=any", "SELECT pg_promote()");
  const pgqueue::Connection probe(conninfo(), soon());
}

std::string PgServer::conninfo(const std::string& database) const {
  return "host=" + dir_.path().string() + " user=postgres dbname=" + database;
}

std::string PgServer::make_database() {
  const std::string name = "safety_" + std::to_string(++databases_made_);
  pg_execute(conninfo(), "CREATE DATABASE " + name + " TEMPLATE safety_template");
  // Settings of a database are not copied with it.
  pg_value(conninfo(name), "SELECT message_safety.apply_roles()");
  return conninfo(name);
}

std::string PgServer::log() const {
  std::ifstream file(dir_.file("server.log"), std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void pg_execute(const std::string& conninfo, const std::string& sql) {
  pgqueue::Connection connection(conninfo, soon());
  connection.run_script(sql, soon());
}

std::string pg_value(const std::string& conninfo, const std::string& sql) {
  pgqueue::Connection connection(conninfo, soon());
  const std::string wrapped = "SELECT (" + sql + ")::text";
  const pgqueue::Statement statement{"test", wrapped, {}};
  const auto rows = connection.run({&statement, 1}, soon(), pgqueue::Connection::Commits::kYes);
  if (rows.back().size() == 0 || rows.back().is_null(0, 0)) return "";
  return std::string(rows.back().text(0, 0));
}

}  // namespace han::tests
