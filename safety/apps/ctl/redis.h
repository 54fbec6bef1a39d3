// The Redis server of a command: its address and what its troubles mean to an operator.
//
// Threads: pure functions, or one thread. Blocks: connect_redis up to its deadline.
// Fails:   Failure; no text of it holds a part of the address.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cache/connection.h"
#include "cache/url.h"
#include "safety/apps/ctl/failure.h"

namespace han::safety {

// Of the workers' user, and of the operators', who may SCAN.
inline constexpr std::string_view kRedisUrl = "MESSAGE_SAFETY_REDIS";
inline constexpr std::string_view kRedisOpsUrl = "MESSAGE_SAFETY_REDIS_OPS";

// Connects as `name` (then _URL, _URL_FILE, ...) says; null when the environment names none.
std::unique_ptr<cache::Connection> connect_redis_if_named(std::string_view name,
                                                          const cache::ReplyLimits& limits = {});
// As above; Failure when none is named.
std::unique_ptr<cache::Connection> connect_redis(std::string_view name,
                                                 const cache::ReplyLimits& limits = {});

// What is wrong with a variable of `name`, which the text names.
std::string address_fault(std::string_view name, const cache::UrlError& error);

// "redis: it closed the connection: ..."
Failure redis_failure(cache::Trouble trouble, cache::ErrorClass error);

}  // namespace han::safety
