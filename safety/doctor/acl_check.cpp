#include "safety/doctor/acl_check.h"

#include <algorithm>
#include <vector>

namespace han::safety {
namespace {

// Each grant of compose/redis/users.acl.template is in the list of its user.

// A SHA-1 of no script: nothing is run.
#define NO_SCRIPT "0000000000000000000000000000000000000000"

// Refused to every user: they change the server or its users, run code that is not ours, read what
// others do, stop the server for a while, or take data away. KEYS is one of them (000-K06).
#define REFUSED_TO_ALL                                                                            \
  {"keys *", false}, {"flushall", false}, {"flushdb", false}, {"swapdb 0 1", false},              \
      {"config get maxmemory", false}, {"config set maxmemory 0", false},                         \
      {"config rewrite", false}, {"config resetstat", false}, {"acl list", false},                \
      {"acl getuser default", false}, {"acl setuser default on", false}, {"acl load", false},     \
      {"acl save", false}, {"client list", false}, {"client kill id 0", false},                   \
      {"client pause 1", false}, {"client no-evict on", false}, {"eval return 0", false},         \
      {"eval_ro return 0", false}, {"script flush", false}, {"script kill", false},               \
      {"function load code", false}, {"function flush", false}, {"fcall none 0", false},          \
      {"module list", false}, {"module load path", false}, {"debug sleep 0", false},              \
      {"shutdown", false}, {"replicaof no one", false}, {"failover", false}, {"monitor", false},  \
      {"save", false}, {"bgsave", false}, {"bgrewriteaof", false}, {"slowlog get", false},        \
      {"latency latest", false}, {"memory doctor", false}, {"cluster info", false},               \
      {"psync ? -1", false}, {"migrate host 1 key 0 1", false}, {"randomkey", false},             \
      {"psubscribe *", false}, {"subscribe other", false}, {"publish other x", false},            \
      {"select 1", false}, {"persist han:safety:x", false},                                       \
      {"rename han:safety:x han:safety:y", false}, {"restore han:safety:x 0 x", false},           \
      {"lpush han:safety:x y", false}, {"xadd han:safety:x * f v", false},                        \
      {"zadd han:safety:x 1 y", false}, {"hset han:safety:x f v", false}, {"set other x", false}, \
  {                                                                                               \
    "del other", false                                                                            \
  }

constexpr AclProbe kApp[] = {
    {"ping", true},
    {"evalsha " NO_SCRIPT " 1 han:safety:x", true},
    {"script load code", true},
    {"get han:safety:x", true},
    {"mget han:safety:x", true},
    {"set han:safety:x y", true},
    {"del han:safety:x", true},
    {"strlen han:safety:x", true},
    {"pttl han:safety:x", true},
    {"time", true},
    {"publish han:safety:wakeup 1", true},
    {"subscribe han:safety:wakeup", true},
    {"evalsha " NO_SCRIPT " 1 other", false},
    {"get other", false},
    {"pttl other", false},
    {"scan 0", false},
    {"info", false},
    {"dbsize", false},
    {"acl dryrun default ping", false},
    REFUSED_TO_ALL,
};

#define REFUSED_TO_READERS                                                                  \
  {"set han:safety:x y", false}, {"del han:safety:x", false}, {"incr han:safety:x", false}, \
      {"pexpire han:safety:x 1", false}, {"evalsha " NO_SCRIPT " 1 han:safety:x", false},   \
      {"script load code", false}, {"publish han:safety:wakeup 1", false}, {                \
    "subscribe han:safety:wakeup", false                                                    \
  }

constexpr AclProbe kOps[] = {
    {"ping", true},     {"info", true},
    {"time", true},     {"dbsize", true},
    {"scan 0", true},   {"type x", true},
    {"strlen x", true}, {"pttl x", true},
    {"get x", true},    {"acl dryrun default ping", true},
    REFUSED_TO_READERS, REFUSED_TO_ALL,
};

constexpr AclProbe kHealth[] = {
    {"ping", true},
    {"info", true},
    {"scan 0", false},
    {"get han:safety:x", false},
    {"acl dryrun default ping", false},
    REFUSED_TO_READERS,
    REFUSED_TO_ALL,
};

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    all.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

std::string check_name(AclRole role) {
  return std::string("redis.acl.").append(shipped_user(role));
}

void add_word(std::string& list, std::string_view word) {
  if (!list.empty()) list += ", ";
  list += word;
}

// "it may: keys *, flushall; it may not: get x".
std::string fault_words(const std::string& too_much, const std::string& too_little) {
  std::string seen;
  if (!too_much.empty()) seen += "it may: " + too_much;
  if (!too_little.empty()) seen += (seen.empty() ? "" : "; ") + ("it may not: " + too_little);
  return seen;
}

}  // namespace

std::string_view shipped_user(AclRole role) {
  switch (role) {
    case AclRole::kApp:
      return "message_safety";
    case AclRole::kOps:
      return "ops";
    case AclRole::kHealth:
      return "ops_health";
  }
  return "";
}

std::span<const AclProbe> acl_probes(AclRole role) {
  switch (role) {
    case AclRole::kApp:
      return kApp;
    case AclRole::kOps:
      return kOps;
    case AclRole::kHealth:
      return kHealth;
  }
  return {};
}

void check_acl(cache::Connection& ops, AclRole role, const std::string& user,
               const DoctorOptions& options, Diagnoses& diagnoses) {
  const auto probes = acl_probes(role);
  cache::CommandBuffer commands;
  for (const AclProbe& probe : probes) {
    std::vector<std::string_view> arguments = {"ACL", "DRYRUN", user};
    for (const std::string_view word : words(probe.command)) arguments.push_back(word);
    commands.add(arguments);
  }
  const auto result = ops.call(commands, options.deadline());
  if (result.trouble != cache::Trouble::kNone) {
    skip_acl(role, std::string("the connection failed: ").append(trouble_name(result.trouble)),
             diagnoses);
    return;
  }
  std::string too_much;
  std::string too_little;
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const cache::Reply& reply = result.replies[i];
    if (reply.error == cache::ErrorClass::kNoperm) {
      skip_acl(role, "the user of MESSAGE_SAFETY_REDIS_OPS_URL may not ACL DRYRUN", diagnoses);
      return;
    }
    // An error: no such user, or a command that this server does not have.
    if (reply.is_error()) {
      ++unknown;
      continue;
    }
    const bool is_allowed = reply.text == "OK";
    if (is_allowed && !probes[i].is_allowed) add_word(too_much, probes[i].command);
    if (!is_allowed && probes[i].is_allowed) add_word(too_little, probes[i].command);
  }
  if (unknown == probes.size()) {
    skip_acl(role, "the server has no user of this name", diagnoses);
    return;
  }
  diagnoses.judge(
      too_much.empty() && too_little.empty(), check_name(role),
      too_much.empty() && too_little.empty()
          ? std::to_string(probes.size() - unknown) + " commands asked about"
          : fault_words(too_much, too_little),
      "make the ACL file anew from compose/redis/users.acl.template, and restart Redis");
}

void skip_acl(AclRole role, const std::string& reason, Diagnoses& diagnoses) {
  diagnoses.not_checked(check_name(role), reason);
}

}  // namespace han::safety
