#include "safety/apps/ctl/host_facts.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <variant>

#include "safety/apps/ctl/failure.h"
#include "safety/link_judge_dns.h"

namespace han::safety {
namespace {

std::unique_ptr<dns::Resolver> make_resolver(std::vector<std::string> servers) {
  dns::ResolverOptions options;
  options.in_flight_max = 2 * HostFactsSource::kHostsAsked;
  options.servers = std::move(servers);
  try {
    return std::make_unique<dns::Resolver>(std::move(options));
  } catch (const std::invalid_argument&) {
    throw Failure(ExitCode::kUsage, "a DNS server's address is none",
                  "write an IP address, and :PORT behind it if it is not 53");
  } catch (const std::runtime_error&) {
    throw Failure(ExitCode::kFailure, "c-ares cannot be set up, or is not that of the build",
                  "install the release of this system, or give --no-dns");
  }
}

// A failure is asked for again at once.
std::chrono::seconds life_of(const dns::Resolution& resolution) {
  const auto* answer = std::get_if<dns::Answer>(&resolution);
  return answer == nullptr ? std::chrono::seconds(0) : answer->ttl;
}

}  // namespace

HostFactsSource::HostFactsSource(std::vector<std::string> servers,
                                 std::shared_ptr<const PepperSet> peppers)
    : peppers_(std::move(peppers)) {
  // Wrong arguments are told at once; the system's servers are looked for when one is needed.
  if (!servers.empty()) resolver_ = make_resolver(std::move(servers));
}

std::vector<HostFacts> HostFactsSource::resolve(std::span<const std::string> hosts) {
  const auto now = system_clock().now();
  std::vector<dns::Question> questions;
  for (const std::string& host : hosts) {
    const Answers* known = answers(host);
    if (known != nullptr && known->usable_until > now) continue;
    questions.push_back({host, dns::RecordType::kA});
    questions.push_back({host, dns::RecordType::kAaaa});
  }
  if (resolver_ == nullptr) resolver_ = make_resolver({});
  std::vector<dns::Resolution> resolutions;
  for (std::size_t at = 0; at < questions.size(); at += 2 * kHostsAsked) {
    const std::span some =
        std::span(questions).subspan(at, std::min(questions.size() - at, 2 * kHostsAsked));
    auto answers = resolver_->resolve(some, Deadline::after(kResolveTimeout));
    std::ranges::move(answers, std::back_inserter(resolutions));
  }
  if (answers_.size() + questions.size() / 2 > kHostsKept) {
    // Those of this call stay.
    std::erase_if(answers_, [&](const auto& kept) {
      return !std::binary_search(hosts.begin(), hosts.end(), kept.first);
    });
  }
  for (std::size_t i = 0; i < questions.size(); i += 2) {
    const auto life = std::min(life_of(resolutions[i]), life_of(resolutions[i + 1]));
    answers_[questions[i].host] = {std::move(resolutions[i]), std::move(resolutions[i + 1]),
                                   now + life};
  }
  std::vector<HostFacts> facts;
  for (const std::string& host : hosts) {
    const Answers& known = answers_.at(host);
    facts.push_back(
        {facts_of(known.a, peppers_->current), facts_of(known.aaaa, peppers_->current)});
  }
  return facts;
}

const HostFactsSource::Answers* HostFactsSource::answers(const std::string& host) const {
  const auto found = answers_.find(host);
  return found == answers_.end() ? nullptr : &found->second;
}

}  // namespace han::safety
