// HostFactsSource: what hosts resolve to, asked at a resolver; answers are kept for their time.
//
// Threads: one thread at a time. Owns: the resolver with its thread.
// Blocks:  resolve() until the servers have answered, at most kResolveTimeout for each kHostsAsked.
// Fails:   Failure when a server's address is none; what is not answered is a failed fact.
// Limits:  kHostsAsked hosts are asked about at once, kHostsKept are kept.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dns/resolver.h"
#include "safety/base/clock.h"
#include "safety/subject_judge.h"

namespace han::safety {

class HostFactsSource final : public HostResolver {
 public:
  static constexpr std::chrono::seconds kResolveTimeout{10};
  // None waits for another one's answer, so that it has all the time that it has alone.
  static constexpr std::size_t kHostsAsked = 128;
  static constexpr std::size_t kHostsKept = 10'000;

  // `servers`: "192.0.2.1" or "192.0.2.1:5353"; empty: the system's.
  HostFactsSource(std::vector<std::string> servers, std::shared_ptr<const PepperSet> peppers);

  std::vector<HostFacts> resolve(std::span<const std::string> hosts) override;

  struct Answers {
    dns::Resolution a = dns::Failure::kTimeout;
    dns::Resolution aaaa = dns::Failure::kTimeout;
    Clock::SteadyTime usable_until{};
  };
  // What the last resolve() was answered for this host; null: it was not asked for.
  const Answers* answers(const std::string& host) const;

 private:
  std::shared_ptr<const PepperSet> peppers_;
  std::map<std::string, Answers, std::less<>> answers_;
  std::unique_ptr<dns::Resolver> resolver_;  // null: the system's servers, not needed yet
};

}  // namespace han::safety
