#include "safety/worker/admin.h"

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace han::safety {
namespace {

constexpr std::size_t kThreads = 4;
constexpr std::chrono::seconds kClientTimeout{1};
constexpr std::size_t kRequestBytesMax = 1024;

}  // namespace

struct Admin::Server {
  httplib::Server http;
  std::atomic<bool> has_ended{false};
};

Admin::Admin(std::string host, std::uint16_t port, AdminHandlers handlers)
    : host_(std::move(host)),
      port_(port),
      handlers_(std::move(handlers)),
      server_(std::make_unique<Server>()) {
  httplib::Server& http = server_->http;
  http.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  http.set_payload_max_length(kRequestBytesMax);
  // One request a connection, and no client may be slow for long.
  http.set_keep_alive_max_count(1);
  http.set_read_timeout(kClientTimeout);
  http.set_write_timeout(kClientTimeout);
  http.Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("ok\n", "text/plain");
  });
  http.Get("/readyz", [this](const httplib::Request&, httplib::Response& response) {
    const Readiness readiness = handlers_.readiness();
    response.status = readiness.is_ready ? 200 : 503;
    response.set_content(readiness.text, "text/plain");
  });
  http.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
    response.set_content(handlers_.metrics(), "text/plain; version=0.0.4");
  });
}

Admin::~Admin() { stop(); }

std::uint16_t Admin::start() {
  int port = port_;
  if (port == 0) {
    port = server_->http.bind_to_any_port(host_.c_str());
  } else if (!server_->http.bind_to_port(host_.c_str(), port)) {
    port = -1;
  }
  if (port < 0) throw std::runtime_error("the admin endpoint's address cannot be bound");
  thread_ = std::jthread([this] {
    server_->http.listen_after_bind();
    server_->has_ended = true;
  });
  // stop() does nothing to a server that does not listen yet.
  while (!server_->http.is_running() && !server_->has_ended) std::this_thread::yield();
  return static_cast<std::uint16_t>(port);
}

void Admin::stop() {
  server_->http.stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace han::safety
