// Bundle loss: what a changed bundle has lost against the live one, so that a file that broke off
// does not take rules and lists out of use.
//
// A file can end early and still be valid: a rules file after any rule, a list after any line. Lost
// are rules and lists that are no longer in their files, and entries of a list that still counts.
// What is taken out by `mode: off`, or has expired, is no loss, so that turning something off never
// waits. Nor is what an operator states: a list with entries_min has that bound instead.
//
//     if (auto loss = find_loss(live, next, settings.bundle_loss_percent)) throw *loss;
//
// Threads: pure function. Blocks: never.
#pragma once

#include <cstddef>
#include <optional>

#include "safety/bundle.h"
#include "safety/yaml_file.h"

namespace han::safety {

inline constexpr int kLossPercentMax = 50;
// Less than so many of anything is no loss, however large its share is.
inline constexpr std::size_t kLossMin = 10;

// The first loss of more than `percent_max` per cent: file, list, numbers, and what to do.
std::optional<ConfigError> find_loss(const Bundle& live, const Bundle& next, int percent_max);

}  // namespace han::safety
