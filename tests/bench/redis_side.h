// RedisSide: what the benches of the hot cache share: a real server with values as the product
// writes them, the product's client of it, and hiredis' own.
//
// Threads: one. Owns: the server, the pool, the keys. Blocks: until the server answers.
// Fails:   std::runtime_error.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cache/hot_cache.h"
#include "cache/pool.h"
#include "tests/support/redis_server.h"

struct redisContext;

namespace han::tests {

class RedisSide {
 public:
  // `keys` text entries, sealed, each with two rules that hit.
  explicit RedisSide(std::size_t keys);

  const RedisServer& server() const { return server_; }
  cache::HotCache& hot() { return *hot_; }
  const std::vector<cache::TextKey>& keys() const { return keys_; }
  const std::vector<std::string>& pepper_ids() const { return pepper_ids_; }
  std::size_t value_bytes() const { return value_bytes_; }
  // As many keys of the same size again, with values of the same size, as redis-benchmark names
  // them: twelve digits stand for __rand_int__.
  std::string make_plain_keys();

 private:
  RedisServer server_;
  std::unique_ptr<cache::Pool> pool_;
  std::unique_ptr<cache::HotCache> hot_;
  std::vector<cache::TextKey> keys_;
  std::vector<std::string> pepper_ids_;
  std::size_t value_bytes_ = 0;
};

// A plain connection of hiredis, logged in as the product is.
class PlainRedis {
 public:
  explicit PlainRedis(const RedisServer& server);
  // GET; returns the size of the value.
  std::size_t get(const std::string& key);

 private:
  struct Free {
    void operator()(redisContext* context) const;
  };
  std::unique_ptr<redisContext, Free> context_;
};

}  // namespace han::tests
