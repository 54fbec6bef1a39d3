#include "safety/worker/cache_writer.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "safety/base/check.h"

namespace han::safety {
namespace {

bool fits(const std::string& bytes) { return bytes.size() <= cache::kValueBytesMax; }

// What is too large is not sent, and what is not sent says nothing of the server.
bool is_any_sent(const cache::HotWrites& writes) {
  const auto fits_one = [](const auto& write) { return fits(write.bytes); };
  return std::ranges::any_of(writes.texts, fits_one) ||
         std::ranges::any_of(writes.links, fits_one) || std::ranges::any_of(writes.hosts, fits_one);
}

}  // namespace

CacheWriter::CacheWriter(cache::HotCache& hot_cache, CacheWriterOptions options, OnAnswer on_answer)
    : hot_cache_(hot_cache), options_(options), on_answer_(std::move(on_answer)) {
  SAFETY_CHECK(options_.batch > 0 && options_.batch <= cache::kBatchKeysMax);
}

CacheWriter::~CacheWriter() { stop(Deadline::after(std::chrono::nanoseconds(0))); }

void CacheWriter::start() {
  SAFETY_CHECK(!thread_.joinable());
  thread_ = std::jthread([this] { run(); });
}

void CacheWriter::stop(Deadline deadline) {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    stop_by_ = deadline;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

template <typename Write>
void CacheWriter::queue(std::vector<Write>& writes) {
  for (Write& write : writes) {
    const std::size_t bytes = write.bytes.size();
    if (bytes_ + bytes > options_.bytes_max) {
      ++counts_.dropped;
      continue;
    }
    bytes_ += bytes;
    waiting_.emplace_back(std::move(write));
  }
}

void CacheWriter::add(CacheWrites writes) {
  if (writes.size() == 0) return;
  {
    MutexLock lock(mutex_);
    queue(writes.texts);
    queue(writes.links);
    queue(writes.hosts);
  }
  changed_.notify_all();
}

bool CacheWriter::wait_idle(Deadline deadline) {
  MutexLock lock(mutex_);
  return changed_.wait_until(lock, deadline.at(), [this] {
    mutex_.assert_held();
    return waiting_.empty() && !is_writing_;
  });
}

CacheWriterStats CacheWriter::stats() const {
  MutexLock lock(mutex_);
  CacheWriterStats stats = counts_;
  stats.waiting = waiting_.size();
  return stats;
}

CacheWrites CacheWriter::take() {
  CacheWrites taken;
  MutexLock lock(mutex_);
  is_writing_ = false;
  changed_.notify_all();
  changed_.wait(lock, [this] {
    mutex_.assert_held();
    return is_stopping_ || !waiting_.empty();
  });
  if (stop_by_.has_passed()) {
    counts_.dropped += waiting_.size();
    waiting_.clear();
  }
  const std::size_t count = std::min(options_.batch, waiting_.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::visit(
        [&](auto& write) {
          mutex_.assert_held();
          bytes_ -= write.bytes.size();
          using Write = std::decay_t<decltype(write)>;
          if constexpr (std::is_same_v<Write, cache::TextWrite>) {
            taken.texts.push_back(std::move(write));
          } else if constexpr (std::is_same_v<Write, AnswerWrite>) {
            taken.hosts.push_back(std::move(write));
          } else {
            taken.links.push_back(std::move(write));
          }
        },
        waiting_.front());
    waiting_.pop_front();
  }
  is_writing_ = count > 0;
  return taken;
}

bool CacheWriter::write_once(const CacheWrites& writes) {
  const auto begin = system_clock().now();
  std::vector<cache::DnsWrite> hosts;
  for (const AnswerWrite& answer : writes.hosts) {
    const auto left = std::chrono::floor<std::chrono::milliseconds>(answer.until.left());
    if (left.count() > 0) hosts.push_back({answer.key, answer.bytes, left});
  }
  const cache::HotWrites sent{
      .texts = writes.texts, .files = {}, .links = writes.links, .hosts = hosts};
  const auto outcome = hot_cache_.put(sent, options_.ttls, Deadline::after(options_.timeout));
  if (outcome == cache::PutOutcome::kUnavailable) return false;
  if (is_any_sent(sent)) on_answer_(system_clock().now() - begin);
  return true;
}

bool CacheWriter::pause(std::chrono::milliseconds time) {
  MutexLock lock(mutex_);
  const Deadline until = Deadline::after(time).earlier(stop_by_);
  changed_.wait_until(lock, until.at(), [this] {
    mutex_.assert_held();
    return stop_by_.has_passed();
  });
  return !stop_by_.has_passed();
}

void CacheWriter::write(const CacheWrites& writes) {
  bool is_written = write_once(writes);
  auto time = kFirstPause;
  for (int tries = 1; !is_written && tries < kTries && pause(time); ++tries, time *= 2) {
    is_written = write_once(writes);
  }
  MutexLock lock(mutex_);
  (is_written ? counts_.written : counts_.refused) += writes.size();
}

void CacheWriter::run() {
  while (true) {
    const auto writes = take();
    if (writes.size() == 0) return;
    write(writes);
  }
}

}  // namespace han::safety
