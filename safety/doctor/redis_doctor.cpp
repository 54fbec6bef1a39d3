#include "safety/doctor/redis_doctor.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <utility>

#include "cache/connection.h"
#include "cache/script_check.h"
#include "safety/doctor/acl_check.h"
#include "safety/doctor/clock_check.h"
#include "safety/doctor/key_survey.h"
#include "safety/doctor/server_info.h"

namespace han::safety {
namespace {

using cache::Connection;
using cache::ErrorClass;
using cache::OpenResult;
using cache::RedisEndpoint;
using cache::RedisUrl;
using cache::Reply;
using cache::Trouble;

constexpr const char* kNoOps = "MESSAGE_SAFETY_REDIS_OPS_URL is not set";

constexpr std::string_view kInfoChecks[] = {
    "redis.version",     "redis.role",    "redis.memory.limit", "redis.memory.policy",
    "redis.persistence", "redis.evicted", "redis.connections",  "redis.databases"};

std::string words_of(const OpenResult& opened) {
  if (opened.trouble == Trouble::kRejected) {
    return std::string("the server refused the login: ").append(error_name(opened.error));
  }
  return std::string("no connection: ").append(trouble_name(opened.trouble));
}

std::string fix_of(const OpenResult& opened, const std::string& variable) {
  if (opened.trouble == Trouble::kTls || opened.trouble == Trouble::kUntrusted) {
    return "check the server's certificate, its name in " + variable +
           ", and MESSAGE_SAFETY_REDIS_CA_FILE";
  }
  if (opened.trouble != Trouble::kRejected) return "check that the server runs, and " + variable;
  switch (opened.error) {
    case ErrorClass::kLoading:
      return "wait until the server has read its data";
    case ErrorClass::kBusy:
      return "a script runs too long, and no shipped user may end it: restart Redis";
    case ErrorClass::kMaxClients:
      return "raise maxclients, or find who connects so often";
    case ErrorClass::kMasterdown:
      return "name the primary in " + variable;
    default:
      return "correct user and password of " + variable + ", or the server's ACL file";
  }
}

// What the address says now; nullopt: a file of it is just being written.
std::optional<RedisUrl> url_of(const RedisEndpoint& endpoint) {
  try {
    return endpoint.read().front();
  } catch (const cache::UrlError&) {
    return std::nullopt;
  }
}

std::unique_ptr<Connection> connect(const std::optional<RedisEndpoint>& endpoint,
                                    const std::string& fault, const std::string& name,
                                    const std::string& variable, const DoctorOptions& options,
                                    Diagnoses& diagnoses) {
  const std::string check = "redis.connection." + name;
  if (!endpoint && !fault.empty()) {
    diagnoses.finding(check, fault, "correct that first: nothing was looked at as this user");
    return nullptr;
  }
  if (!endpoint) {
    diagnoses.not_checked(check, variable + " is not set");
    return nullptr;
  }
  auto opened = Connection::open(*endpoint, {}, options.deadline());
  if (opened.connection == nullptr) {
    diagnoses.finding(check, words_of(opened), fix_of(opened, variable));
    return nullptr;
  }
  // With two passwords one of them may have been good enough, and will be taken away one day.
  const auto url = url_of(*endpoint);
  const bool is_first_refused =
      url && Connection::open(*url, {}, options.deadline()).error == ErrorClass::kWrongpass;
  diagnoses.judge(
      !is_first_refused, check,
      is_first_refused ? "only the second password of its file lets us in" : "it lets us in",
      "give the server the first one, too: make its ACL file anew, and restart Redis");
  return std::move(opened.connection);
}

// Whom the address logs in as; without an address, the user as shipped.
std::string user_of(const std::optional<RedisUrl>& url, AclRole role) {
  if (!url) return std::string(shipped_user(role));
  return url->user.empty() ? "default" : url->user;
}

// What a command was answered with; nullopt with a reason when it was not.
std::optional<Reply> ask(Connection& connection, std::initializer_list<std::string_view> command,
                         const DoctorOptions& options, std::string& reason) {
  cache::CommandBuffer commands;
  commands.add(command);
  auto result = connection.call(commands, options.deadline());
  if (result.trouble != Trouble::kNone) {
    reason = std::string("the connection failed: ").append(trouble_name(result.trouble));
    return std::nullopt;
  }
  if (result.replies[0].is_error()) {
    reason = std::string("the server refused ")
                 .append(*command.begin())
                 .append(": ")
                 .append(error_name(result.replies[0].error));
    return std::nullopt;
  }
  return std::move(result.replies[0]);
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 0) return std::nullopt;
  return value;
}

void check_clock(Connection& connection, const DoctorOptions& options, Diagnoses& diagnoses) {
  const ClockCheck clock(options);
  std::string reason;
  const auto reply = ask(connection, {"TIME"}, options, reason);
  if (!reply || reply->elements.size() != 2) {
    diagnoses.not_checked("redis.clock", reason.empty() ? "TIME was not understood" : reason);
    return;
  }
  // No clock goes beyond; more would not fit the milliseconds.
  constexpr std::int64_t kSecondsMax = 253'402'300'799;
  const auto seconds = whole_number(reply->elements[0].text);
  const auto microseconds = whole_number(reply->elements[1].text);
  if (!seconds || !microseconds || *seconds > kSecondsMax) {
    diagnoses.not_checked("redis.clock", "TIME was not understood");
    return;
  }
  clock.judge(*seconds * 1000 + *microseconds / 1000, "redis.clock", diagnoses);
}

// As the workers' own user: a right that a script lacks shows here, not in the middle of work.
void check_scripts(Connection& app, const DoctorOptions& options, Diagnoses& diagnoses) {
  const auto checks = cache::check_scripts(app, options.deadline());
  const std::string bad = cache::describe_bad(checks);
  diagnoses.judge(bad.empty(), "redis.scripts",
                  bad.empty() ? std::to_string(checks.size()) + " scripts run as they should" : bad,
                  "make the ACL file anew from compose/redis/users.acl.template: each command "
                  "inside a script needs its own right");
}

// Whether a client that names no user is let in: seed 000 wants the default user off.
void check_default_user(const RedisEndpoint& endpoint, const DoctorOptions& options,
                        Diagnoses& diagnoses) {
  const std::string_view check = "redis.acl.default";
  auto url = url_of(endpoint);
  if (!url) return diagnoses.not_checked(check, "the address cannot be read just now");
  url->user.clear();
  url->password.clear();
  const auto opened = Connection::open(*url, {}, options.deadline());
  if (opened.trouble == Trouble::kRejected && opened.error == ErrorClass::kNoauth) {
    diagnoses.ok(check, "a client without a password is refused");
  } else if (opened.connection != nullptr) {
    diagnoses.finding(check, "a client without a password is let in",
                      "switch the default user off: make the ACL file from "
                      "compose/redis/users.acl.template");
  } else {
    diagnoses.not_checked(check, words_of(opened));
  }
}

// One check of a field of INFO.
template <typename Judge>
void with_field(const ServerInfo& info, std::string_view check, std::string_view field,
                Diagnoses& diagnoses, Judge&& judge) {
  if (const auto value = info.text(field)) {
    judge(*value);
  } else {
    diagnoses.not_checked(check, std::string("the server's INFO has no ").append(field));
  }
}

void check_version(const ServerInfo& info, const DoctorOptions& options, Diagnoses& diagnoses) {
  with_field(info, "redis.version", "redis_version", diagnoses, [&](const std::string& version) {
    diagnoses.judge(info.major_version() >= options.redis_version_min, "redis.version", version,
                    "run Redis " + std::to_string(options.redis_version_min) + " or later");
  });
  with_field(info, "redis.role", "role", diagnoses, [&](const std::string& role) {
    diagnoses.judge(role == "master", "redis.role", role,
                    "name the primary: a replica takes no writes");
  });
}

void check_memory(const ServerInfo& info, Diagnoses& diagnoses) {
  with_field(info, "redis.memory.limit", "maxmemory", diagnoses, [&](const std::string& limit) {
    const auto bytes = info.number("maxmemory");
    if (!bytes) return diagnoses.not_checked("redis.memory.limit", "INFO was not understood");
    diagnoses.judge(*bytes != 0, "redis.memory.limit",
                    *bytes == 0 ? "there is no limit" : limit + " bytes",
                    "set maxmemory to 70 % of what the server's container may have");
  });
  constexpr std::string_view kPolicies[] = {"volatile-lru", "volatile-ttl", "volatile-lfu"};
  with_field(info, "redis.memory.policy", "maxmemory_policy", diagnoses,
             [&](const std::string& policy) {
               diagnoses.judge(std::ranges::find(kPolicies, policy) != std::end(kPolicies),
                               "redis.memory.policy", policy,
                               "set maxmemory-policy volatile-lru: a full server must make room, "
                               "and by keys that have a time to live");
             });
  with_field(info, "redis.evicted", "evicted_keys", diagnoses, [&](const std::string& evicted) {
    diagnoses.judge(evicted == "0", "redis.evicted",
                    evicted + " keys were evicted since the server started",
                    "raise maxmemory; until then evicted values are computed again");
  });
}

void check_persistence(const ServerInfo& info, Diagnoses& diagnoses) {
  constexpr std::string_view kCheck = "redis.persistence";
  with_field(info, kCheck, "aof_enabled", diagnoses, [&](const std::string& aof) {
    if (aof != "1") {
      diagnoses.finding(kCheck, "there is no append-only file",
                        "set appendonly yes, or expect a cold cache after each restart");
      return;
    }
    for (const char* field :
         {"aof_last_write_status", "aof_last_bgrewrite_status", "rdb_last_bgsave_status"}) {
      const auto status = info.text(field);
      if (!status) {
        diagnoses.not_checked(kCheck, std::string("the server's INFO has no ").append(field));
        return;
      }
      if (*status == "ok") continue;
      diagnoses.finding(kCheck, std::string(field) + " is " + *status,
                        "look at the server's log and at the room on its disk");
      return;
    }
    diagnoses.ok(kCheck, "append-only file, written without errors");
  });
}

void check_connections(const ServerInfo& info, Diagnoses& diagnoses) {
  with_field(info, "redis.connections", "rejected_connections", diagnoses,
             [&](const std::string& rejected) {
               diagnoses.judge(rejected == "0", "redis.connections",
                               rejected + " connections were rejected since the server started",
                               "raise maxclients, or find who connects so often");
             });
}

// The legacy stub kept its tasks in a database of its own.
void check_databases(const ServerInfo& info, Diagnoses& diagnoses) {
  std::string others;
  for (const auto& [number, keys] : info.keys_of_databases()) {
    if (number == 0) continue;
    others += (others.empty() ? "" : ", ") + std::to_string(number) + " (" + std::to_string(keys) +
              " keys)";
  }
  diagnoses.judge(others.empty(), "redis.databases",
                  others.empty() ? "only database 0 has keys" : "keys in database " + others,
                  "find what writes there (the legacy stub did), and empty it; the shipped "
                  "redis.conf has one database");
}

void check_info(Connection& ops, const DoctorOptions& options, Diagnoses& diagnoses) {
  std::string reason;
  const auto reply = ask(ops, {"INFO"}, options, reason);
  if (!reply) {
    for (const std::string_view check : kInfoChecks) diagnoses.not_checked(check, reason);
    return;
  }
  const ServerInfo info(reply->text);
  check_version(info, options, diagnoses);
  check_memory(info, diagnoses);
  check_persistence(info, diagnoses);
  check_connections(info, diagnoses);
  check_databases(info, diagnoses);
}

void examine_as_ops(Connection& ops, const RedisTargets& targets, const DoctorOptions& options,
                    Diagnoses& diagnoses) {
  check_info(ops, options, diagnoses);
  for (const auto& [role, endpoint] :
       {std::pair(AclRole::kApp, &targets.app), std::pair(AclRole::kOps, &targets.ops)}) {
    const auto url = *endpoint ? url_of(**endpoint) : std::nullopt;
    if (*endpoint && !url) {
      skip_acl(role, "the address cannot be read just now", diagnoses);
    } else {
      check_acl(ops, role, user_of(url, role), options, diagnoses);
    }
  }
  check_acl(ops, AclRole::kHealth, std::string(shipped_user(AclRole::kHealth)), options, diagnoses);
  judge_keys(survey_keys(ops, options), options, diagnoses);
}

void skip_ops(const std::string& reason, Diagnoses& diagnoses) {
  for (const std::string_view check : kInfoChecks) diagnoses.not_checked(check, reason);
  for (const AclRole role : {AclRole::kApp, AclRole::kOps, AclRole::kHealth}) {
    skip_acl(role, reason, diagnoses);
  }
  skip_keys(reason, diagnoses);
}

}  // namespace

void examine_redis(const RedisTargets& targets, const DoctorOptions& options,
                   Diagnoses& diagnoses) {
  const auto app = connect(targets.app, targets.app_fault, "message_safety",
                           "MESSAGE_SAFETY_REDIS_URL", options, diagnoses);
  const auto ops = connect(targets.ops, targets.ops_fault, "ops", "MESSAGE_SAFETY_REDIS_OPS_URL",
                           options, diagnoses);
  if (Connection* any = app ? app.get() : ops.get()) {
    check_clock(*any, options, diagnoses);
    check_default_user(app ? *targets.app : *targets.ops, options, diagnoses);
  } else {
    diagnoses.not_checked("redis.clock", "there is no connection");
    diagnoses.not_checked("redis.acl.default", "there is no connection");
  }
  if (app) {
    check_scripts(*app, options, diagnoses);
  } else {
    diagnoses.not_checked("redis.scripts", targets.is_app_named()
                                               ? "there is no connection as their user"
                                               : "MESSAGE_SAFETY_REDIS_URL is not set");
  }
  if (ops) {
    examine_as_ops(*ops, targets, options, diagnoses);
  } else {
    skip_ops(targets.is_ops_named() ? "there is no connection as ops" : kNoOps, diagnoses);
  }
}

}  // namespace han::safety
