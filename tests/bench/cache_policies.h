// Cache policies: what the local cache could evict by, each as a set of keys of a fixed capacity.
//
// They share one build (a list or two and one hash map), so that their costs can be compared.
// Sources: Zhang et al., "SIEVE is Simpler than LRU", NSDI 2024; Yang et al., "FIFO Queues are All
// You Need for Cache Eviction", SOSP 2023 (S3-FIFO); Einziger et al., "TinyLFU", 2017 (W-TinyLFU,
// with Caffeine's shares of window and segments).
//
// Threads: one thread at a time. Owns: its keys. Blocks, Fails: never.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace han::tests {

class CachePolicy {
 public:
  virtual ~CachePolicy() = default;
  // True: `key` was there. If not, it is there now, and another one may have gone.
  virtual bool access(std::uint64_t key) = 0;
  virtual std::size_t size() const = 0;
};

class LruPolicy : public CachePolicy {
 public:
  explicit LruPolicy(std::size_t capacity) : capacity_(capacity) {}
  bool access(std::uint64_t key) override;
  std::size_t size() const override { return places_.size(); }

 private:
  const std::size_t capacity_;
  std::list<std::uint64_t> queue_;
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> places_;
};

class SievePolicy : public CachePolicy {
 public:
  explicit SievePolicy(std::size_t capacity) : capacity_(capacity) {}
  bool access(std::uint64_t key) override;
  std::size_t size() const override { return places_.size(); }

 private:
  struct Item {
    std::uint64_t key;
    bool is_visited;
  };
  void evict();

  const std::size_t capacity_;
  std::list<Item> queue_;
  std::list<Item>::iterator hand_ = queue_.end();
  std::unordered_map<std::uint64_t, std::list<Item>::iterator> places_;
};

class S3FifoPolicy : public CachePolicy {
 public:
  explicit S3FifoPolicy(std::size_t capacity);
  bool access(std::uint64_t key) override;
  std::size_t size() const override { return small_.size() + main_.size(); }

 private:
  struct Item {
    std::uint64_t key;
    int hits;
  };
  void evict();
  void evict_small();
  void evict_main();
  void remember(std::uint64_t key);

  const std::size_t capacity_;
  const std::size_t small_max_;
  std::list<Item> small_;
  std::list<Item> main_;
  std::unordered_map<std::uint64_t, std::list<Item>::iterator> places_;
  // Keys that left the small queue lately.
  std::deque<std::uint64_t> ghosts_;
  std::unordered_set<std::uint64_t> ghost_keys_;
};

class TinyLfuPolicy : public CachePolicy {
 public:
  explicit TinyLfuPolicy(std::size_t capacity);
  bool access(std::uint64_t key) override;
  std::size_t size() const override { return places_.size(); }

 private:
  enum class Segment { kWindow, kProbation, kProtected };
  struct Item {
    std::uint64_t key;
    Segment segment;
  };
  using Queue = std::list<Item>;
  void touch(Queue::iterator place);
  void admit();
  void drop_last(Queue& queue);
  unsigned frequency(std::uint64_t key) const;
  void count(std::uint64_t key);

  const std::size_t window_max_;
  const std::size_t protected_max_;
  const std::size_t main_max_;
  Queue window_;
  Queue probation_;
  Queue protected_;
  std::unordered_map<std::uint64_t, Queue::iterator> places_;
  std::vector<std::uint8_t> sketch_;
  std::size_t counted_ = 0;
};

}  // namespace han::tests
