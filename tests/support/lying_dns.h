// LyingDns: a name server for UDP and TCP on a port of 127.0.0.1 whose every answer is made by a
// function of the test: silence, refusals, truncation, garbage, what no real server sends. It
// remembers what it was asked.
//
// Threads: safe to share; the script runs on the server's thread.
// Owns:    the listening sockets, the connections and the thread.
// Blocks:  the destructor until the thread has ended.
// Fails:   std::system_error when it cannot listen.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "safety/base/mutex.h"
#include "tests/support/dns_packet.h"

namespace han::tests {

struct LyingDnsOptions {
  // False: connections are refused.
  bool has_tcp = true;
};

class LyingDns {
 public:
  // The packets to send back, in order; none: silence. Over TCP each gets its length before it.
  using Script = std::function<std::vector<std::string>(const DnsQuery&)>;

  explicit LyingDns(Script script, LyingDnsOptions options = {});
  ~LyingDns();
  LyingDns(const LyingDns&) = delete;
  LyingDns& operator=(const LyingDns&) = delete;

  std::uint16_t port() const { return port_; }
  // As a resolver's option takes it.
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // From now on; queries that wait are answered by the new script.
  void set_script(Script script);
  // While held, queries are received and remembered but not answered.
  void hold();
  void release();

  std::vector<DnsQuery> queries() const;
  std::size_t query_count() const;
  // Of one name, all types.
  std::size_t query_count(const std::string& name) const;

 private:
  class Loop;

  std::uint16_t port_ = 0;
  int udp_fd_ = -1;
  int tcp_fd_ = -1;
  int wake_fd_ = -1;
  std::atomic<bool> is_held_{false};
  mutable safety::Mutex mutex_;
  Script script_ GUARDED_BY(mutex_);
  std::vector<DnsQuery> queries_ GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace han::tests
