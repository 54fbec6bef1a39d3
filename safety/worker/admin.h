// Admin: the process's HTTP endpoint for probes and metrics.
//
//     /healthz   200 while the process answers
//     /readyz    200 when PostgreSQL answers, else 503; Redis is reported, and decides nothing
//     /metrics   Prometheus text
//
// Threads:   start() and stop() from one thread.
// Owns:      its listening socket and threads.
// Blocks:    stop() until running requests have ended.
// Fails:     start() throws std::runtime_error when the address cannot be bound.
// Limits:    4 requests at a time; bodies of requests are refused above 1 KiB.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace han::safety {

struct Readiness {
  bool is_ready = false;
  std::string text;
};

struct AdminHandlers {
  std::function<Readiness()> readiness;
  std::function<std::string()> metrics;
};

class Admin {
 public:
  Admin(std::string host, std::uint16_t port, AdminHandlers handlers);
  ~Admin();
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;

  // Returns the port, which the system chose when 0 was asked for.
  std::uint16_t start();
  void stop();

 private:
  struct Server;
  const std::string host_;
  const std::uint16_t port_;
  const AdminHandlers handlers_;
  std::unique_ptr<Server> server_;
  std::jthread thread_;
};

}  // namespace han::safety
