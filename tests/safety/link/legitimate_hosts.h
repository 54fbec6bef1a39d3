// legitimate_hosts: international names as real ones are: words, places and institutions in the
// scripts and top-level domains where they are at home. No check of hosts may hit one of them.
//
// Threads: constants.
#pragma once

#include <span>
#include <string_view>

namespace han::tests {

std::span<const std::string_view> legitimate_hosts();

}  // namespace han::tests
