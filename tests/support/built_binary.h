// built_binary: the path of a program of this build.
//
// Threads: a pure function. Blocks: never.
#pragma once

#include <cstdlib>
#include <string>

namespace han::tests {

// The folder comes from SAFETY_BIN_DIR, which ctest sets; by hand it is the dev build's.
inline std::string built_binary(const std::string& name) {
  const char* folder = std::getenv("SAFETY_BIN_DIR");
  return std::string(folder == nullptr ? "build/dev/bin" : folder) + "/" + name;
}

}  // namespace han::tests
