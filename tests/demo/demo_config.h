// demo_config: the config of examples/, but that no name is resolved, and that addresses of local
// networks only monitor: the mails of the demo name hosts of all the world, their headers are full
// of such addresses, and the verdicts are compared with those of an engine without a network.
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
  const auto replace = [&text](const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    if (at == std::string::npos) throw std::runtime_error("examples/config.yaml: no " + from);
    text.replace(at, from.size(), to);
  };
  replace("dns: required", "dns: off");
  replace("address: block", "address: monitor");
  return text;
}

}  // namespace han::tests
