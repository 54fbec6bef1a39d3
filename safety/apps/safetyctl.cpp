// safetyctl: the operator's command. Only wiring: commands are in safety/apps/ctl.

#include <CLI/CLI.hpp>
#include <signal.h>

#include <exception>
#include <iostream>
#include <new>

#include "pgqueue/error.h"
#include "safety/apps/ctl/arguments.h"
#include "safety/apps/ctl/check_command.h"
#include "safety/apps/ctl/classify_ip_command.h"
#include "safety/apps/ctl/database.h"
#include "safety/apps/ctl/doctor_command.h"
#include "safety/apps/ctl/explain_command.h"
#include "safety/apps/ctl/extract_command.h"
#include "safety/apps/ctl/migrate_command.h"
#include "safety/apps/ctl/output.h"
#include "safety/apps/ctl/queue_command.h"
#include "safety/apps/ctl/replay_command.h"
#include "safety/apps/ctl/rules_command.h"
#include "safety/apps/ctl/submit_command.h"
#include "safety/apps/ctl/task_command.h"
#include "safety/apps/ctl/url_command.h"
#include "safety/apps/no_core_dumps.h"
#include "safety/yaml_file.h"

namespace han::safety {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done (of a verdict: allow or monitor), 10 block, 11 indeterminate, 2 usage,\n"
    "3 findings (lint, test, verify, doctor), 1 other failures. -- ends options; - reads standard\n"
    "input.\n"
    "Example:\n  safetyctl check text --rules rules.yaml --config config.yaml 'hello there'";

ExitCode run(int argc, const char* const* argv) {
  CLI::App app("Operator's command of the message safety engine", "safetyctl");
  app.set_version_flag("--version", "safetyctl " SAFETY_VERSION);
  app.require_subcommand(1);
  app.footer(kFooter);
  Command command;
  add_check_command(app, command);
  add_explain_command(app, command);
  add_url_command(app, command);
  add_classify_ip_command(app, command);
  add_extract_command(app, command);
  add_rules_command(app, command);
  add_submit_command(app, command);
  add_task_commands(app, command);
  add_queue_command(app, command);
  add_replay_command(app, command);
  add_migrate_command(app, command);
  add_doctor_command(app, command);
  try {
    app.parse(protected_arguments(argc, argv));
  } catch (const CLI::Success& asked) {  // --help or --version
    app.exit(asked);
    return ExitCode::kOk;
  } catch (const CLI::ParseError& error) {
    throw usage_failure(app, error);
  }
  return command.run();
}

ExitCode report(ExitCode code, std::string_view text) {
  std::cerr << "safetyctl: " << printable(text) << '\n';
  return code;
}

ExitCode guarded_run(int argc, const char* const* argv) {
  try {
    return run(argc, argv);
  } catch (const OutputClosed&) {
    return ExitCode::kFailure;
  } catch (const Failure& failure) {
    return report(failure.code(), failure.what());
  } catch (const ConfigError& error) {
    return report(ExitCode::kFailure, error.what());
  } catch (const pgqueue::Error& error) {
    return report(ExitCode::kFailure, database_failure(error).what());
  } catch (const std::bad_alloc&) {
    return report(ExitCode::kFailure, "out of memory: free some, or give a smaller file");
  } catch (const std::exception&) {
    // Its words are not ours and may quote anything.
    return report(ExitCode::kFailure, "internal error: please report it with the command's name");
  }
}

}  // namespace
}  // namespace han::safety

int main(int argc, char** argv) {
  // A reader that goes away is an error of the next write.
  signal(SIGPIPE, SIG_IGN);
  han::safety::forbid_core_dumps();
  std::ios::sync_with_stdio(false);
  return static_cast<int>(han::safety::guarded_run(argc, argv));
}
