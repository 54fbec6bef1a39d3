#include "safety/worker/redis_report.h"

#include <algorithm>

namespace han::safety {
namespace {

std::string_view word(cache::Breaker::State state) {
  switch (state) {
    case cache::Breaker::State::kClosed:
      return "closed";
    case cache::Breaker::State::kOpen:
      return "open";
    case cache::Breaker::State::kHalfOpen:
      return "half-open";
  }
  return "";
}

// Beside what the server did wrong: it is there, and takes longer than computing.
constexpr std::string_view kSlow = "slow";

bool has_trouble(const RedisSigns& signs) {
  return std::any_of(signs.troubles.begin(), signs.troubles.end(),
                     [](const cache::NamedTrouble& trouble) { return trouble.is_present; });
}

bool has_connection(const RedisSigns& signs) { return signs.pool.idle + signs.pool.in_use > 0; }

// Of a rejection the error says more.
std::string_view reason(cache::Trouble trouble, cache::ErrorClass error) {
  return error == cache::ErrorClass::kNone ? cache::trouble_name(trouble)
                                           : cache::error_name(error);
}

std::string line(std::string_view what, std::string_view value) {
  std::string text("redis ");
  text += what;
  text += ": ";
  text += value;
  text += '\n';
  return text;
}

}  // namespace

bool is_up(const RedisSigns& signs) {
  return signs.pool.breaker == cache::Breaker::State::kClosed && has_connection(signs) &&
         !has_trouble(signs) && signs.wakeup.state == cache::WakeupState::kUp &&
         (signs.findings.rounds == 0 || signs.findings.is_good) && !signs.budget.is_skipping;
}

std::string redis_report(const RedisSigns& signs) {
  const bool is_good = is_up(signs);
  std::string text = is_good ? "redis: up\n" : "redis: degraded\n";
  text += line("breaker", word(signs.pool.breaker));
  std::string troubles;
  for (const cache::NamedTrouble& trouble : signs.troubles) {
    if (trouble.is_present) troubles.append(troubles.empty() ? "" : " ").append(trouble.name);
  }
  if (signs.budget.is_skipping) troubles.append(troubles.empty() ? "" : " ").append(kSlow);
  if (troubles.empty()) troubles = has_connection(signs) ? "none" : "not connected";
  text += line("troubles", troubles);
  std::string channel(cache::wakeup_state_name(signs.wakeup.state));
  if (signs.wakeup.state != cache::WakeupState::kUp && signs.wakeup.failures > 0) {
    channel += " ";
    channel += reason(signs.wakeup.last_trouble, signs.wakeup.last_error);
  }
  text += line("wake-up", channel);
  std::string_view scripts = signs.findings.bad;
  if (signs.findings.is_good) scripts = "good";
  if (signs.findings.rounds == 0) scripts = "not tested yet";
  text += line("scripts", scripts);
  text += line("look-ups", signs.budget.is_skipping ? "skipped, too slow" : "pay");
  return text;
}

void set_redis_figures(const RedisSigns& signs, const Metrics::SetGauge& set) {
  set("redis_degraded", "", is_up(signs) ? 0 : 1);
  for (const cache::NamedTrouble& trouble : signs.troubles) {
    set("redis_troubles", trouble.name, static_cast<double>(trouble.count));
    set("redis_trouble_present", trouble.name, trouble.is_present ? 1 : 0);
  }
  set("redis_trouble_present", kSlow, signs.budget.is_skipping ? 1 : 0);
  set("redis_breaker_open", "", signs.pool.breaker == cache::Breaker::State::kClosed ? 0 : 1);
  set("redis_breaker_opened", "", static_cast<double>(signs.pool.breaker_opened));
  set("redis_connections", "idle", static_cast<double>(signs.pool.idle));
  set("redis_connections", "in_use", static_cast<double>(signs.pool.in_use));
  set("redis_connects", "", static_cast<double>(signs.pool.connects));
  set("redis_connect_failures", "", static_cast<double>(signs.pool.connect_failures));
  set("redis_scripts_good", "", signs.findings.is_good ? 1 : 0);
  set("redis_self_tests", "", static_cast<double>(signs.findings.rounds));
  set("wakeup_channel_up", "", signs.wakeup.state == cache::WakeupState::kUp ? 1 : 0);
  for (const auto state :
       {cache::WakeupState::kDown, cache::WakeupState::kUp, cache::WakeupState::kRefused}) {
    set("wakeup_channel", cache::wakeup_state_name(state), signs.wakeup.state == state ? 1 : 0);
  }
  set("wakeup", "messages", static_cast<double>(signs.wakeup.messages));
  set("wakeup", "hints", static_cast<double>(signs.wakeup.hints));
  set("wakeup", "malformed", static_cast<double>(signs.wakeup.malformed));
  set("wakeup", "subscribes", static_cast<double>(signs.wakeup.subscribes));
  set("wakeup", "failures", static_cast<double>(signs.wakeup.failures));
  set("wakeup", "lag", static_cast<double>(signs.wakeup.lag));
}

}  // namespace han::safety
