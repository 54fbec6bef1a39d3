// StaleAnswers: earlier answers, for the time that the servers fail.
//
// Only addresses are kept, only beyond their TTL and for a bounded time; a later answer of any kind
// replaces them, one that may not be cached or has no addresses removes them.
//
// Source: RFC 8767.
//
// Threads: one thread at a time. Blocks: never.
// Limits:  `entries_max`; the least recently kept answer goes first.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <optional>

#include "dns/answer.h"
#include "safety/base/clock.h"

namespace han::dns {

class StaleAnswers {
 public:
  // `age_max`: beyond the TTL; zero keeps nothing.
  StaleAnswers(std::chrono::seconds age_max, std::size_t entries_max);

  void keep(const Question& question, const Answer& answer, safety::Clock::SteadyTime now);
  // Marked stale, with a TTL of zero.
  std::optional<Answer> find(const Question& question, safety::Clock::SteadyTime now) const;
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Answer answer;
    safety::Clock::SteadyTime end;
    std::list<Question>::iterator place;
  };

  void erase(const Question& question);

  const std::chrono::seconds age_max_;
  const std::size_t entries_max_;
  std::map<Question, Entry> entries_;
  // The latest first.
  std::list<Question> order_;
};

}  // namespace han::dns
