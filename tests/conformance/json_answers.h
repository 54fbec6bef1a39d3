// The answers of a safetyctl command that reads lines: one JSON object for each.
//
// Threads: one thread. Blocks: as run_ctl. Fails: the test, when the command does.
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

#include "tests/apps/ctl/ctl_run.h"

namespace han::tests {

inline std::vector<nlohmann::json> json_answers(const std::vector<std::string>& arguments,
                                                const std::string& input) {
  const CtlResult result = run_ctl(arguments, {.input = input});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  std::vector<nlohmann::json> all;
  std::istringstream out(result.out);
  for (std::string line; std::getline(out, line);) all.push_back(nlohmann::json::parse(line));
  return all;
}

}  // namespace han::tests
