// The pepper file that a command is given, or that its environment names.
//
// Threads: one thread. Blocks: reads one file. Fails: Failure, without a word of the content.
#pragma once

#include <optional>
#include <string>

#include "safety/base/pepper.h"

namespace CLI {
class App;
}  // namespace CLI

namespace han::safety {

inline constexpr const char* kPepperVariable = "MESSAGE_SAFETY_PEPPER_FILE";

void add_pepper_option(CLI::App& app, std::optional<std::string>& path);
// What no option names is taken from kPepperVariable; nullopt when that is empty, too.
std::optional<PepperSet> named_peppers(const std::optional<std::string>& path);
// A set that nobody else has: for hashes that only have to be equal within one run.
PepperSet random_peppers();

}  // namespace han::safety
