// The tests of the Public Suffix List: both files of it, each line.
#include <gtest/gtest.h>

#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "safety/link/canonical_host.h"
#include "safety/link/public_suffix.h"
#include "tests/conformance/data_of_others.h"

namespace han::tests {
namespace {

struct Case {
  std::string input;
  std::string expected;  // "null": none
};

// "checkPublicSuffix('a', null);" or "a null".
std::vector<Case> cases(const std::string& file) {
  std::istringstream lines(data_file("psl/" + file));
  std::vector<Case> out;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("//") || line.empty()) continue;
    for (const char* mark : {"checkPublicSuffix(", ");", "'", ","}) {
      const std::string_view text(mark);
      for (std::size_t at; (at = line.find(text)) != std::string::npos;)
        line.erase(at, text.size());
    }
    std::istringstream words(line);
    Case one;
    if (words >> one.input >> one.expected) out.push_back(one);
  }
  return out;
}

// A name with a dot in front is no name to the list; the canonical form of a host has none.
std::string registrable(const std::string& input) {
  if (input == "null" || input.starts_with('.')) return "null";
  const std::string host = safety::canonical_host(input);
  return safety::PublicSuffixes::system().registrable_domain(host).value_or("null");
}

std::string canonical(const std::string& expected) {
  return expected == "null" ? expected : safety::canonical_host(expected);
}

TEST(PublicSuffixConformance, EveryCase) {
  for (const char* file : {"test_psl.txt", "tests.txt"}) {
    const std::vector<Case> all = cases(file);
    for (const Case& one : all) {
      EXPECT_EQ(registrable(one.input), canonical(one.expected)) << file << ": " << one.input;
    }
    EXPECT_GE(all.size(), 76U) << file;
    std::cout << file << ": " << all.size() << " cases\n";
  }
}

}  // namespace
}  // namespace han::tests
