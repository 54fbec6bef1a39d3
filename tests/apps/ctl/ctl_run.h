// CtlRun: the built safetyctl, run as an operator runs it.
//
// Threads: one thread at a time.
// Owns:    the process and a folder with its input and outputs.
// Blocks:  finish() and run_ctl() until it has ended, at most 60 s; then the test fails.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace han::tests {

struct CtlOptions {
  std::string input;             // what standard input holds
  std::vector<std::string> env;  // "NAME=value"; no variable of the product is inherited
};

struct CtlResult {
  int code = -1;
  std::string out;
  std::string err;

  bool shows(const std::string& text) const {
    return out.find(text) != std::string::npos || err.find(text) != std::string::npos;
  }
};

class CtlRun {
 public:
  explicit CtlRun(const std::vector<std::string>& arguments, const CtlOptions& options = {});
  CtlResult finish();
  void signal(int number) { process_.signal(number); }
  // What it has written to standard output so far.
  std::string out() const;

 private:
  TempDir dir_;
  Process process_;
};

CtlResult run_ctl(const std::vector<std::string>& arguments, const CtlOptions& options = {});

// The one line that an error is: "safetyctl: ...".
testing::AssertionResult is_one_line_error(const CtlResult& result);

void write_file(const std::string& path, const std::string& bytes);
std::string read_file(const std::string& path);

}  // namespace han::tests
