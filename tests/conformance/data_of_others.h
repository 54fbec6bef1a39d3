// data_of_others: where the public test data of others lies: environment HAN_SAFETY_DATA.
//
// `./run test` sets it, or names the tests that are disabled without it; a test that is started by
// hand without it fails and says so.
//
// Threads: pure functions. Blocks: reads files. Fails: std::runtime_error when the data is missing.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace han::tests {

inline std::string data_folder() {
  const char* folder = std::getenv("HAN_SAFETY_DATA");
  if (folder == nullptr) throw std::runtime_error("HAN_SAFETY_DATA is not set");
  return folder;
}

// `name` from the data's root, such as "iana/iana-ipv4-special-registry-1.csv".
inline std::string data_file(const std::string& name) {
  std::ifstream file(data_folder() + "/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("HAN_SAFETY_DATA has no file " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace han::tests
