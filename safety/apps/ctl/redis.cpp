#include "safety/apps/ctl/redis.h"

#include <chrono>

#include "cache/endpoint.h"

namespace han::safety {
namespace {

constexpr std::chrono::seconds kConnectTimeout{10};

Failure fail(std::string_view what, std::string_view fix) {
  return {ExitCode::kFailure, std::string("redis: ").append(what), fix};
}

Failure trouble_failure(cache::Trouble trouble) {
  switch (trouble) {
    case cache::Trouble::kTimeout:
      return fail("no answer in time", "check that the server runs and is not stuck");
    case cache::Trouble::kRefused:
      return fail("it takes no connections", "check that the server runs, and its address");
    case cache::Trouble::kNameUnknown:
      return fail("its host name is not known", "correct the address");
    case cache::Trouble::kProtocol:
      return fail("its answer is not Redis' protocol, or over a limit",
                  "check that the address is that of Redis");
    case cache::Trouble::kTls:
    case cache::Trouble::kUntrusted:
      return fail(std::string("TLS failed (").append(trouble_name(trouble)).append(")"),
                  "check the server's certificate, and MESSAGE_SAFETY_REDIS_CA_FILE");
    case cache::Trouble::kEndpoint:
      return fail("its address or a file of it cannot be read", "correct the variables");
    case cache::Trouble::kNone:
    case cache::Trouble::kClosed:
    case cache::Trouble::kRejected:
    case cache::Trouble::kInterrupted:
      break;
  }
  return fail(std::string("the connection was lost (").append(trouble_name(trouble)).append(")"),
              "see its log; do the same again when it is well");
}

std::string_view fix_of(cache::ErrorClass error) {
  switch (error) {
    case cache::ErrorClass::kNoauth:
    case cache::ErrorClass::kWrongpass:
      return "correct user and password";
    case cache::ErrorClass::kNoperm:
      return "connect as a user of the shipped ACL (message_safety; ops for a scan)";
    case cache::ErrorClass::kOom:
      return "give it memory, or let it evict (maxmemory-policy volatile-lru)";
    case cache::ErrorClass::kReadonly:
      return "connect to the primary";
    case cache::ErrorClass::kMisconf:
      return "it cannot write its snapshot: see its log";
    default:
      return "do the same again when it is well";
  }
}

}  // namespace

Failure redis_failure(cache::Trouble trouble, cache::ErrorClass error) {
  const bool is_answer = trouble == cache::Trouble::kNone || trouble == cache::Trouble::kRejected;
  if (!is_answer || error == cache::ErrorClass::kNone) return trouble_failure(trouble);
  return fail(std::string("it refused a command (").append(error_name(error)).append(")"),
              fix_of(error));
}

std::string address_fault(std::string_view name, const cache::UrlError& error) {
  const std::string text = error.what();
  // Of a file its variable is named already.
  return text.starts_with(name) || text.starts_with(kRedisUrl)
             ? text
             : std::string(name).append("_URL: ").append(text);
}

std::unique_ptr<cache::Connection> connect_redis_if_named(std::string_view name,
                                                          const cache::ReplyLimits& limits) {
  std::optional<cache::RedisEndpoint> endpoint;
  try {
    endpoint = cache::RedisEndpoint::from_environment(std::string(name));
  } catch (const cache::UrlError& error) {
    throw Failure(ExitCode::kFailure, address_fault(name, error), "correct it");
  }
  if (!endpoint) return nullptr;
  auto opened = cache::Connection::open(*endpoint, limits, Deadline::after(kConnectTimeout));
  if (!opened.connection) throw redis_failure(opened.trouble, opened.error);
  return std::move(opened.connection);
}

std::unique_ptr<cache::Connection> connect_redis(std::string_view name,
                                                 const cache::ReplyLimits& limits) {
  auto connection = connect_redis_if_named(name, limits);
  if (connection) return connection;
  throw Failure(ExitCode::kUsage, "no Redis server is named",
                std::string("set ").append(name).append("_URL"));
}

}  // namespace han::safety
