#include "dns/stale_answers.h"

#include <utility>

namespace han::dns {

StaleAnswers::StaleAnswers(std::chrono::seconds age_max, std::size_t entries_max)
    : age_max_(age_max), entries_max_(entries_max) {}

void StaleAnswers::erase(const Question& question) {
  const auto entry = entries_.find(question);
  if (entry == entries_.end()) return;
  order_.erase(entry->second.place);
  entries_.erase(entry);
}

void StaleAnswers::keep(const Question& question, const Answer& answer,
                        safety::Clock::SteadyTime now) {
  if (age_max_.count() <= 0 || entries_max_ == 0) return;
  erase(question);
  if (answer.kind != Answer::Kind::kAddresses || answer.ttl.count() <= 0) return;
  if (entries_.size() == entries_max_) {
    const Question oldest = order_.back();
    erase(oldest);
  }
  order_.push_front(question);
  entries_.emplace(question, Entry{answer, now + answer.ttl + age_max_, order_.begin()});
}

std::optional<Answer> StaleAnswers::find(const Question& question,
                                         safety::Clock::SteadyTime now) const {
  const auto entry = entries_.find(question);
  if (entry == entries_.end() || now >= entry->second.end) return std::nullopt;
  Answer answer = entry->second.answer;
  answer.is_stale = true;
  answer.ttl = std::chrono::seconds(0);
  return answer;
}

}  // namespace han::dns
