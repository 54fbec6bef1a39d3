// Failure: what ends a command, as one line for a person and an exit code for a machine.
//
// Threads: a value. Blocks: never.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace han::safety {

// The exit codes of SPEC section 10.
enum class ExitCode : int {
  kOk = 0,  // done; of a verdict: allow or monitor
  kFailure = 1,
  kUsage = 2,
  kFindings = 3,  // lint, test or verify found something
  kBlock = 10,
  kIndeterminate = 11,
};

// "what: fix". Neither part ever holds a judged text, a secret or a part of a URL.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, std::string_view what, std::string_view fix)
      : std::runtime_error(std::string(what).append(": ").append(fix)), code_(code) {}

  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace han::safety
