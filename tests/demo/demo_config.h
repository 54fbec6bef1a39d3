// demo_config: the config of examples/, but that no name is resolved: the messages of the demo name
// hosts of all the world, and its verdicts are compared with those of an engine without a network.
//
// Threads: pure. Owns: nothing. Blocks: reads the file. Fails: std::runtime_error.
#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace han::tests {

inline std::string demo_config(const std::string& source_dir) {
  std::ifstream file(source_dir + "/examples/config.yaml");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string from = "dns: required";
  const auto at = text.find(from);
  if (at == std::string::npos)
    throw std::runtime_error("examples/config.yaml has no dns: required");
  return text.replace(at, from.size(), "dns: off");
}

}  // namespace han::tests
