#include "safety/worker/cache_writer.h"

#include <algorithm>
#include <utility>

#include "safety/base/check.h"

namespace han::safety {

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

void CacheWriter::add(std::vector<cache::TextWrite> writes) {
  {
    MutexLock lock(mutex_);
    for (cache::TextWrite& write : writes) {
      const std::size_t bytes = write.bytes.size();
      if (bytes_ + bytes > options_.bytes_max) {
        ++counts_.dropped;
        continue;
      }
      bytes_ += bytes;
      waiting_.push_back(std::move(write));
    }
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

std::vector<cache::TextWrite> CacheWriter::take() {
  std::vector<cache::TextWrite> taken;
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
    bytes_ -= waiting_.front().bytes.size();
    taken.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  is_writing_ = !taken.empty();
  return taken;
}

bool CacheWriter::write_once(const std::vector<cache::TextWrite>& writes) {
  const auto begin = system_clock().now();
  const auto outcome =
      hot_cache_.put_texts(writes, options_.ttl, Deadline::after(options_.timeout));
  if (outcome == cache::PutOutcome::kUnavailable) return false;
  // What is too large is not sent, and what is not sent says nothing of the server.
  const bool is_sent = std::ranges::any_of(writes, [](const cache::TextWrite& write) {
    return write.bytes.size() <= cache::kValueBytesMax;
  });
  if (is_sent) on_answer_(system_clock().now() - begin);
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

void CacheWriter::write(const std::vector<cache::TextWrite>& writes) {
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
    if (writes.empty()) return;
    write(writes);
  }
}

}  // namespace han::safety
