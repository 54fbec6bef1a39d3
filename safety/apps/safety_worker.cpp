// safety-worker: the service. Wiring and signals only; see safety/worker/worker.h.
#include <CLI/CLI.hpp>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <thread>

#include "safety/apps/no_core_dumps.h"
#include "safety/worker/worker.h"

namespace {

constexpr int kExitOther = 1;
constexpr int kExitUsage = 2;
// What the stopping thread tells the main thread when all is done.
constexpr int kStopped = SIGUSR1;

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

// Blocked before the first thread starts, so that only sigwait() sees them.
sigset_t block_stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  sigaddset(&signals, kStopped);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// SIGHUP, any number of times, is a request to load the bundle now.
int wait_for_signal(const sigset_t& signals, han::safety::Worker& worker) {
  int number = 0;
  while (true) {
    sigwait(&signals, &number);
    if (number != SIGHUP) return number;
    worker.reload();
  }
}

int run(const std::string& settings_path, bool is_check) {
  han::safety::Settings settings = han::safety::load_settings(settings_path);
  han::safety::set_log_level(settings.log_level);
  han::safety::Worker worker(std::move(settings), han::safety::load_addresses(environment));
  if (is_check) {
    std::printf("configuration is valid: rules %s, config %s\n", worker.rules_version().c_str(),
                worker.config_version().c_str());
    return 0;
  }
  // Before the first thread, and not before rules are compiled: that may be interrupted.
  const sigset_t signals = block_stop_signals();
  worker.start();
  wait_for_signal(signals, worker);
  std::jthread stopping([&worker] {
    worker.stop();
    kill(getpid(), kStopped);
  });
  // A second stop signal ends the process at once; leases make that safe.
  if (wait_for_signal(signals, worker) != kStopped) _exit(kExitOther);
  stopping.join();
  // All is committed or given back; a slow client of the endpoint is not waited for.
  std::fflush(nullptr);
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  han::safety::forbid_core_dumps();
  // A reader of our log that goes away is no reason to die.
  signal(SIGPIPE, SIG_IGN);
  // Until it is waited for it asks for nothing: the bundle is being loaded.
  signal(SIGHUP, SIG_IGN);
  CLI::App app{
      "Claims safety tasks from PostgreSQL and commits their verdicts.\n"
      "Example: safety-worker --settings settings.yaml"};
  std::string settings_path;
  bool is_check = false;
  app.add_option("--settings", settings_path, "the settings file (see examples/settings.yaml)")
      ->required();
  app.add_flag("--check-config", is_check, "check settings, rules, config and secrets, then exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    // The arguments are not repeated: one may be an address with a password.
    std::fputs("safety-worker: wrong arguments: see safety-worker --help\n", stderr);
    return kExitUsage;
  }
  try {
    return run(settings_path, is_check);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "safety-worker: %s\n", error.what());
    return kExitOther;
  }
}
