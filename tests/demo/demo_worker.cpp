#include "tests/demo/demo_worker.h"

#include <httplib.h>
#include <signal.h>

#include <chrono>
#include <stdexcept>

#include "tests/support/await.h"

namespace han::tests {
namespace {

constexpr std::chrono::seconds kAnswerMax{60};

// The word after `key` in a log, up to the next white space.
std::string word_after(const std::string& log, const std::string& key) {
  const auto at = log.find(key);
  if (at == std::string::npos) return "";
  const auto begin = at + key.size();
  const auto end = log.find_first_of(" \n", begin);
  return end == std::string::npos ? "" : log.substr(begin, end - begin);
}

ProcessOptions options(const WorkerEnvironment& environment, const std::string& log_path) {
  return {.argv = {environment.binary, "--settings", environment.settings_path},
          .env = {"MESSAGE_SAFETY_DATABASE_URL=" + environment.database_url,
                  "MESSAGE_SAFETY_REDIS_URL=" + environment.redis_url,
                  "MESSAGE_SAFETY_PEPPER_FILE=" + environment.pepper_path},
          .output_path = log_path};
}

}  // namespace

DemoWorker::DemoWorker(const WorkerEnvironment& environment, const std::string& log_path)
    : process_(options(environment, log_path)) {}

void DemoWorker::await_start() {
  const bool has_started = await(
      [this] {
        if (!process_.is_running()) throw std::runtime_error("a worker ended: " + log());
        return log().find(" started ") != std::string::npos &&
               !word_after(log(), "holder=").empty();
      },
      kAnswerMax);
  if (!has_started) throw std::runtime_error("a worker does not start: " + log());
  holder_ = word_after(log(), "holder=");
  port_ = word_after(log(), "admin port=");
}

void DemoWorker::pause() { process_.signal(SIGSTOP); }
void DemoWorker::resume() { process_.signal(SIGCONT); }
int DemoWorker::stop() { return process_.stop().code; }

std::string DemoWorker::page(const std::string& path) const {
  httplib::Client client("127.0.0.1", std::stoi(port_));
  client.set_read_timeout(kAnswerMax);
  const auto response = client.Get(path.c_str());
  if (!response) throw std::runtime_error("a worker does not answer: " + log());
  return response->body;
}

double DemoWorker::metric(const std::string& series) const {
  const std::string value = word_after(page("/metrics"), "\n" + series + " ");
  return value.empty() ? 0 : std::stod(value);
}

}  // namespace han::tests
