#include "tests/apps/ctl/ctl_run.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "safety/base/deadline.h"

namespace han::tests {
namespace {

Process start(const TempDir& dir, const std::vector<std::string>& arguments,
              const CtlOptions& options) {
  const char* bin = std::getenv("SAFETY_BIN_DIR");
  if (bin == nullptr) throw std::runtime_error("SAFETY_BIN_DIR must name the folder of safetyctl");
  write_file(dir.file("in"), options.input);
  // The folder's path is ours and holds nothing that a shell would take apart.
  const std::string script =
      "exec \"$0\" \"$@\" <" + dir.file("in") + " >" + dir.file("out") + " 2>" + dir.file("err");
  std::vector<std::string> argv = {"/bin/sh", "-c", script, std::string(bin) + "/safetyctl"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::vector<std::string> env = options.env;
  for (const std::string name :
       {"RULES", "CONFIG", "DATABASE_URL", "REDIS_URL", "REDIS_OPS_URL", "PEPPER_FILE"}) {
    const std::string variable = "MESSAGE_SAFETY_" + name + "=";
    bool is_given = false;
    for (const std::string& entry : options.env) is_given |= entry.starts_with(variable);
    if (!is_given) env.push_back(variable);
  }
  return Process({.argv = std::move(argv), .env = std::move(env)});
}

}  // namespace

CtlRun::CtlRun(const std::vector<std::string>& arguments, const CtlOptions& options)
    : process_(start(dir_, arguments, options)) {}

CtlResult CtlRun::finish() {
  const auto status = process_.wait(safety::Deadline::after(std::chrono::seconds(60)));
  if (!status) throw std::runtime_error("safetyctl did not end within 60 s");
  return {status->code, read_file(dir_.file("out")), read_file(dir_.file("err"))};
}

std::string CtlRun::out() const { return read_file(dir_.file("out")); }

CtlResult run_ctl(const std::vector<std::string>& arguments, const CtlOptions& options) {
  return CtlRun(arguments, options).finish();
}

testing::AssertionResult is_one_line_error(const CtlResult& result) {
  const bool is_one_line = result.err.starts_with("safetyctl: ") &&
                           result.err.find('\n') == result.err.size() - 1 &&
                           result.err.find(": ", 11) != std::string::npos;
  if (is_one_line) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "standard error is: " << result.err;
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw std::runtime_error("a test's file cannot be written");
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace han::tests
