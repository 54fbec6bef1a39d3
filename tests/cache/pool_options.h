// Pool options of tests: everything that a pool waits for is short.
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "cache/pool.h"

namespace han::tests {

inline cache::PoolOptions options_for(
    const std::string& url, std::size_t size = 2,
    std::chrono::milliseconds connect_timeout = std::chrono::milliseconds(500)) {
  using std::chrono::milliseconds;
  cache::PoolOptions options;
  options.endpoint = cache::RedisEndpoint::fixed(cache::RedisUrl::parse(url));
  options.size = size;
  options.connect_timeout = connect_timeout;
  options.reconnect_delay = safety::Backoff(milliseconds(5), milliseconds(50));
  options.loss_spread = milliseconds(5);
  options.connects_per_second = 200;
  options.breaker.open_delay = safety::Backoff(milliseconds(20), milliseconds(100));
  return options;
}

}  // namespace han::tests
