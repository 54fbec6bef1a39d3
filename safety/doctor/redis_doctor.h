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
#include <string>

#include "cache/endpoint.h"
#include "safety/doctor/diagnosis.h"
#include "safety/doctor/options.h"

namespace han::safety {

struct RedisTargets {
  std::optional<cache::RedisEndpoint> app;  // MESSAGE_SAFETY_REDIS_URL
  std::optional<cache::RedisEndpoint> ops;  // MESSAGE_SAFETY_REDIS_OPS_URL
  // Why there is none although variables are set; without a part of an address.
  std::string app_fault{};
  std::string ops_fault{};

  bool is_app_named() const { return app || !app_fault.empty(); }
  bool is_ops_named() const { return ops || !ops_fault.empty(); }
};

// Requires: one of the targets is named.
void examine_redis(const RedisTargets& targets, const DoctorOptions& options, Diagnoses& diagnoses);

}  // namespace han::safety
