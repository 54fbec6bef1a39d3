// DemoWorker: one safety-worker process of the demo, with its settings, log and endpoint.
//
// Threads: one thread at a time.
// Owns:    the process: it is killed with this object.
// Blocks:  await_start() until the worker has started (at most 60 s); page() and metric() until it
//          answers (at most 60 s).
// Fails:   std::runtime_error with the worker's log when it does not start or answer.
#pragma once

#include <string>

#include "tests/support/process.h"

namespace han::tests {

struct WorkerEnvironment {
  std::string binary;
  std::string settings_path;
  std::string database_url;
  std::string redis_url;  // empty: without Redis
  std::string pepper_path;
};

class DemoWorker {
 public:
  // Does not wait, so that several can start at a time.
  DemoWorker(const WorkerEnvironment& environment, const std::string& log_path);

  // To be called first.
  void await_start();
  void kill() { process_.kill(); }
  void pause();
  void resume();
  // SIGTERM; the exit code.
  int stop();
  bool is_running() { return process_.is_running(); }
  int pid() const { return process_.pid(); }
  // Its holder id, as the rows of its leases carry it.
  const std::string& holder() const { return holder_; }
  // A page of its endpoint.
  std::string page(const std::string& path) const;
  // A figure of /metrics; 0 when it is not on the page.
  double metric(const std::string& series) const;
  std::string log() const { return process_.output(); }

 private:
  Process process_;
  std::string holder_;
  std::string port_;
};

}  // namespace han::tests
