// Whether Redis' users may do what they must and nothing that they must not, as
// compose/redis/users.acl.template ships them. Asked by ACL DRYRUN, which runs nothing.
//
// Threads: one thread at a time.
// Owns:    nothing; the connection, of a user that may ACL DRYRUN (ops), must outlive it.
// Blocks:  up to the options' deadline for each user.
// Fails:   by a diagnosis.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cache/connection.h"
#include "safety/doctor/diagnosis.h"
#include "safety/doctor/options.h"

namespace han::safety {

enum class AclRole { kApp, kOps, kHealth };

// "message_safety", "ops", "ops_health": their names as shipped.
std::string_view shipped_user(AclRole role);

// A command with its arguments, and whether a user of the role may run it.
struct AclProbe {
  std::string_view command;  // words apart by spaces
  bool is_allowed;
};

std::span<const AclProbe> acl_probes(AclRole role);

// `user`: its name on this server.
void check_acl(cache::Connection& ops, AclRole role, const std::string& user,
               const DoctorOptions& options, Diagnoses& diagnoses);
// Says that it was not made.
void skip_acl(AclRole role, const std::string& reason, Diagnoses& diagnoses);

}  // namespace han::safety
