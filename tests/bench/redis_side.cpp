#include "tests/bench/redis_side.h"

#include <hiredis/hiredis.h>

#include <stdexcept>

#include "cache/entry_seal.h"
#include "safety/base/digest.h"
#include "safety/base/hex.h"
#include "safety/base/pepper.h"

namespace han::tests {
namespace {

constexpr std::chrono::seconds kPatience{30};
const std::string kVersion = "0123456789abcdef0123456789abcdef";

safety::Deadline late() { return safety::Deadline::after(kPatience); }

struct ReplyFree {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using PlainReply = std::unique_ptr<redisReply, ReplyFree>;

}  // namespace

RedisSide::RedisSide(std::size_t keys) {
  cache::PoolOptions options;
  options.endpoint = cache::RedisEndpoint::fixed(cache::RedisUrl::parse(server_.unix_url()));
  options.size = 1;
  pool_ = std::make_unique<cache::Pool>(std::move(options));
  pool_->start();
  if (!pool_->wait_connected(late())) throw std::runtime_error("no connection to redis-server");
  hot_ = std::make_unique<cache::HotCache>(*pool_);
  const auto peppers = safety::parse_peppers("p1 " + std::string(64, '1') + "\n");
  pepper_ids_ = cache::pepper_ids(peppers);
  std::vector<cache::TextWrite> writes;
  for (std::size_t i = 0; i < keys; ++i) {
    const auto hash = peppers.current.key.mac("text", std::to_string(i));
    keys_.emplace_back(hash, kVersion);
    cache::TextEntry entry{.subject = safety::to_hex(hash),
                           .pepper_id = "",
                           .rules_version = kVersion,
                           .hits = {"scam.gift", "spam.crypto_coin"},
                           .monitor = {},
                           .has_links = false,
                           .mac = ""};
    writes.push_back({keys_.back(), cache::seal_entry(entry, peppers.current)});
    value_bytes_ = writes.back().bytes.size();
  }
  if (hot_->put_texts(writes, std::chrono::hours(1), late()) != cache::PutOutcome::kStored) {
    throw std::runtime_error("redis-server did not take the values");
  }
}

std::string RedisSide::make_plain_keys() {
  constexpr std::string_view kRandom = "__rand_int__";
  std::string name = keys_.front().str();
  name.resize(name.size() - kRandom.size());
  const std::string value(value_bytes_, 'x');
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    std::string digits = std::to_string(i);
    digits.insert(0, kRandom.size() - digits.size(), '0');
    server_.ask({"SET", name + digits, value, "EX", "3600"});
  }
  return name + std::string(kRandom);
}

void PlainRedis::Free::operator()(redisContext* context) const { redisFree(context); }

PlainRedis::PlainRedis(const RedisServer& server)
    : context_(redisConnectUnix(server.socket_path().c_str())) {
  if (context_ == nullptr || context_->err != 0) throw std::runtime_error("hiredis: no connection");
  const auto url = cache::RedisUrl::parse(server.unix_url());
  const PlainReply reply(static_cast<redisReply*>(
      redisCommand(context_.get(), "AUTH %s %s", url.user.c_str(), url.password.c_str())));
  if (reply == nullptr || reply->type != REDIS_REPLY_STATUS) {
    throw std::runtime_error("hiredis: not logged in");
  }
}

std::size_t PlainRedis::get(const std::string& key) {
  const PlainReply reply(
      static_cast<redisReply*>(redisCommand(context_.get(), "GET %b", key.data(), key.size())));
  if (reply == nullptr || reply->type != REDIS_REPLY_STRING) {
    throw std::runtime_error("hiredis: no value");
  }
  return reply->len;
}

}  // namespace han::tests
