#include "safety/apps/ctl/role_options.h"

#include "safety/apps/ctl/arguments.h"
#include "safety/apps/ctl/failure.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

constexpr std::size_t kRoleBytesMax = 63;

void set_role(std::string& role, const std::optional<std::string>& name, const char* option) {
  if (!name) return;
  if (name->empty() || name->size() > kRoleBytesMax || !is_valid_utf8(*name)) {
    throw Failure(ExitCode::kUsage, std::string(option) + " is no name of a role",
                  "give 1 to 63 bytes");
  }
  role = *name;
}

}  // namespace

void add_role_options(CLI::App& app, RoleOptions& options) {
  add_string(app, "--owner-role", options.owner, "Name (message_safety_owner)");
  add_string(app, "--worker-role", options.worker, "Name (message_safety_worker)");
  add_string(app, "--api-role", options.api, "Name (message_safety_api)");
  add_string(app, "--readonly-role", options.readonly, "Name (message_safety_readonly)");
}

pgqueue::RoleNames role_names(const RoleOptions& options) {
  pgqueue::RoleNames names;
  set_role(names.owner, options.owner, "--owner-role");
  set_role(names.worker, options.worker, "--worker-role");
  set_role(names.api, options.api, "--api-role");
  set_role(names.readonly, options.readonly, "--readonly-role");
  return names;
}

}  // namespace han::safety
