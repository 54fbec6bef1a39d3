// RedisDoctor: looks at Redis Safety: the server, its users, and every key.
//
// It asks as two users: the workers' own (scripts, the default user) and `ops` (INFO, ACL DRYRUN,
// SCAN). It changes nothing; the scripts' self-test leaves no key.
//
// Threads: one thread at a time.
// Blocks:  for the whole scan of the keys.
// Fails:   by diagnoses: a server that cannot be reached is a finding.
#pragma once

#include <optional>

#include "cache/endpoint.h"
#include "safety/doctor/diagnosis.h"
#include "safety/doctor/options.h"

namespace han::safety {

struct RedisTargets {
  std::optional<cache::RedisEndpoint> app;  // MESSAGE_SAFETY_REDIS_URL
  std::optional<cache::RedisEndpoint> ops;  // MESSAGE_SAFETY_REDIS_OPS_URL
};

// Requires: one of the targets.
void examine_redis(const RedisTargets& targets, const DoctorOptions& options, Diagnoses& diagnoses);

}  // namespace han::safety
