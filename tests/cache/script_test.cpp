#include "cache/script.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <stdexcept>

#include "safety/base/hex.h"

namespace han::tests {
namespace {

using namespace cache;

std::string without_comments(const std::string& text) {
  return std::regex_replace(text, std::regex("--[^\n]*"), "");
}

// covers 000-G01
TEST(Script, TheFilesAreEmbeddedAsTheyAre) {
  std::set<std::string> sha1s;
  for (const Script& script : all_scripts()) {
    std::ifstream file("cache/scripts/" + script.name() + ".lua");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(script.text(), text) << script.name();
    EXPECT_TRUE(safety::is_lower_hex(script.sha1(), 40));
    EXPECT_GE(script.version(), 1u);
    sha1s.insert(script.sha1());
  }
  EXPECT_EQ(sha1s.size(), all_scripts().size());
  EXPECT_EQ(script(ScriptId::kDeleteIfEqual).name(), "delete_if_equal");
  EXPECT_EQ(script(ScriptId::kSelfTest).name(), "self_test");
}

TEST(Script, HasTheSha1ThatRedisGivesIt) {
  EXPECT_EQ(Script("a", "-- version: 7\nreturn 1\n").version(), 7u);
  // From sha1sum.
  EXPECT_EQ(Script("a", "-- version: 7\nreturn 1\n").sha1(),
            "9e7df205e4d11b2788beadbc17eed52e6e258bc4");
}

TEST(Script, NeedsItsVersionInTheFirstLine) {
  for (const char* text : {"", "return 1", "-- version: ", "-- version: 0\n", "-- version: 1x\n",
                           "\n-- version: 1\n", "-- version: -1"}) {
    EXPECT_THROW(Script("a", text), std::invalid_argument) << text;
  }
}

// covers 000-G02
TEST(Script, B26_EveryKeyIsInKeysAndNothingLoopsOrScans) {
  // Each command's first argument is one of KEYS, or the command takes no key.
  const std::regex call(R"(redis\.p?call\(\s*'([A-Z]+)'\s*,?\s*([^,)\s]*))");
  for (const Script& script : all_scripts()) {
    const std::string code = without_comments(script.text());
    std::size_t calls = 0;
    for (auto it = std::sregex_iterator(code.begin(), code.end(), call);
         it != std::sregex_iterator(); ++it, ++calls) {
      const std::string command = (*it)[1];
      if (command != "TIME") {
        EXPECT_EQ((*it)[2], "KEYS[1]") << script.name() << " " << command;
      }
    }
    const std::regex any(R"(redis\.p?call)");
    const auto all =
        std::distance(std::sregex_iterator(code.begin(), code.end(), any), std::sregex_iterator());
    EXPECT_EQ(calls, static_cast<std::size_t>(all)) << script.name() << ": a call of another form";
    EXPECT_GT(calls, 0u);
    for (const char* word : {"while", "for ", "repeat", "goto", "SCAN", "KEYS'", "loadstring"}) {
      EXPECT_EQ(code.find(word), std::string::npos) << script.name() << " has " << word;
    }
  }
}

// A transaction of Redis looks as if it could coordinate something; PostgreSQL does that here.
// covers 000-G05
TEST(Script, NoSourceUsesATransactionOfRedis) {
  int files = 0;
  for (const char* folder : {"cache", "safety"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const auto extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".h" && extension != ".lua") continue;
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      for (const char* word : {"\"MULTI\"", "\"EXEC\"", "\"WATCH\"", "\"DISCARD\"", "\"EVAL\""}) {
        EXPECT_EQ(text.find(word), std::string::npos) << entry.path() << " has " << word;
      }
      ++files;
    }
  }
  EXPECT_GT(files, 50);
}

TEST(Script, LoadsEachOnce) {
  const auto commands = load_commands(all_scripts());
  EXPECT_EQ(commands.count(), all_scripts().size());
}

}  // namespace
}  // namespace han::tests
