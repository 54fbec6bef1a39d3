// Resolver: asks the configured servers for the addresses of hosts.
//
// One c-ares channel and one thread serve all callers. Equal questions that are under way are asked
// once. Names are rooted: no search domain is ever tried. A truncated answer is asked for again
// over TCP. Nothing is cached here (and c-ares' own cache is off), but that stale answers can be
// kept for the time of a failure. Works alike on c-ares 1.18 and 1.34.
//
// Source: RFC 1035, RFC 2308, RFC 5452, RFC 7766 (TCP), RFC 8767 (stale answers).
//
// Threads: safe to share.
// Owns:    one thread, sockets to the servers.
// Blocks:  resolve() until its deadline at the latest; stop() and the destructor until the thread
//          has ended, a few ms.
// Fails:   a Failure per question; the constructor throws std::invalid_argument for servers that
//          are none, std::runtime_error when c-ares cannot be set up.
// Limits:  ResolverOptions; at the bound kOverload.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dns/answer.h"
#include "safety/base/clock.h"
#include "safety/base/deadline.h"

namespace han::dns {

struct ResolverOptions {
  // "192.0.2.1", "192.0.2.1:5353", "[2001:db8::1]:53"; empty: those of `resolv_conf`, which is read
  // again when it changes.
  std::vector<std::string> servers;
  std::string resolv_conf = "/etc/resolv.conf";
  // The port of its servers.
  std::uint16_t resolv_conf_port = 53;
  // Of the first try at each server; it doubles with each round.
  std::chrono::milliseconds timeout{1000};
  // Rounds over the servers.
  int tries = 2;
  // More addresses in one answer: kLimit.
  std::size_t answers_max = kAddressesMax;
  // Questions on the way, and questions that wait for that.
  std::size_t in_flight_max = 256;
  std::size_t waiting_max = 10'000;
  // How long beyond its TTL an answer may be given when the refresh fails; zero: never.
  std::chrono::seconds stale_max{0};
  std::size_t stale_answers_max = 10'000;
  // Of the age of answers, stale ones too.
  const safety::Clock* clock = &safety::system_clock();
};

struct ResolverStats {
  // Since the start.
  std::uint64_t questions = 0;
  // Questions that an equal one under way answered.
  std::uint64_t shared = 0;
  // Packets over UDP, repeated ones included, and connections over TCP.
  std::uint64_t queries_sent = 0;
  std::uint64_t tcp_connections = 0;
  // Outcomes; one of shared questions counts once.
  std::uint64_t addresses = 0;
  std::uint64_t no_data = 0;
  std::uint64_t no_such_name = 0;
  // Answers whose records say a longer ttl than kTtlMax.
  std::uint64_t ttl_capped = 0;
  std::array<std::uint64_t, kFailures> failures{};
  std::uint64_t stale_served = 0;
  std::uint64_t reloads = 0;
  // Now.
  std::size_t in_flight = 0;
  std::size_t waiting = 0;
  // Outcomes in a row that were kTimeout or kUnreachable: no server has said anything since.
  std::uint64_t silent_streak = 0;
};

class Resolver {
 public:
  explicit Resolver(ResolverOptions options);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // One outcome for each question, in order. What is not known at the deadline is kTimeout, or
  // kOverload when it still waited to be asked.
  std::vector<Resolution> resolve(std::span<const Question> questions, safety::Deadline deadline);
  Resolution resolve(const Question& question, safety::Deadline deadline);

  ResolverStats stats() const;
  // Questions under way and all later ones end as kStopped.
  void stop();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace han::dns
