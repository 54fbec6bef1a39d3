#include "tests/bench/cache_policies.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace han::tests {
namespace {

constexpr std::size_t kCapacity = 100;

std::vector<std::pair<std::string, std::unique_ptr<CachePolicy>>> policies() {
  std::vector<std::pair<std::string, std::unique_ptr<CachePolicy>>> all;
  all.emplace_back("LRU", std::make_unique<LruPolicy>(kCapacity));
  all.emplace_back("SIEVE", std::make_unique<SievePolicy>(kCapacity));
  all.emplace_back("S3-FIFO", std::make_unique<S3FifoPolicy>(kCapacity));
  all.emplace_back("W-TinyLFU", std::make_unique<TinyLfuPolicy>(kCapacity));
  return all;
}

TEST(CachePolicies, KeepWhatTheyHaveRoomFor) {
  for (auto& [name, policy] : policies()) {
    for (std::uint64_t key = 0; key < 10'000; ++key) {
      EXPECT_FALSE(policy->access(key)) << name;
      EXPECT_LE(policy->size(), kCapacity) << name;
    }
    EXPECT_GE(policy->size(), kCapacity - 1) << name;
  }
}

TEST(CachePolicies, FindWhatWasAskedForJustNow) {
  for (auto& [name, policy] : policies()) {
    EXPECT_FALSE(policy->access(1)) << name;
    EXPECT_TRUE(policy->access(1)) << name;
  }
}

// All but LRU keep popular keys through a scan that is longer than the cache.
TEST(CachePolicies, AScanDoesNotWashOutPopularKeys) {
  for (auto& [name, policy] : policies()) {
    for (int round = 0; round < 10; ++round) {
      for (std::uint64_t key = 0; key < kCapacity / 2; ++key) policy->access(key);
    }
    for (std::uint64_t key = 1'000; key < 1'000 + 2 * kCapacity; ++key) policy->access(key);
    std::size_t found = 0;
    for (std::uint64_t key = 0; key < kCapacity / 2; ++key) found += policy->access(key) ? 1U : 0U;
    if (name == "LRU") {
      EXPECT_EQ(found, 0u);
    } else {
      EXPECT_GT(found, kCapacity / 4) << name;
    }
  }
}

}  // namespace
}  // namespace han::tests
