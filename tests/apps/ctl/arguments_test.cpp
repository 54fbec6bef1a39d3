#include "safety/apps/ctl/arguments.h"

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

namespace han::tests {
namespace {

using safety::ExitCode;

class Arguments : public ::testing::Test {
 protected:
  Arguments() {
    app_.require_subcommand(1);
    CLI::App& group = safety::add_group(app_, "group", "a group", "safetyctl group leaf");
    CLI::App& leaf = safety::add_leaf(group, "leaf", "a leaf", "safetyctl group leaf");
    safety::add_operands(leaf, "TEXT", texts_, "texts");
    safety::add_string(leaf, "--name", name_, "a name");
    safety::add_integer(leaf, "--count", {1, 10}, count_, "a count");
    safety::add_json_flag(leaf, json_);
    safety::set_run(leaf, command_, std::make_shared<int>(7), count_calls);
  }

  static ExitCode count_calls(const int& options) {
    calls += options;
    return ExitCode::kFindings;
  }

  void parse(std::vector<const char*> argv) {
    argv.insert(argv.begin(), {"safetyctl", "group", "leaf"});
    app_.parse(safety::protected_arguments(static_cast<int>(argv.size()), argv.data()));
  }

  // The words of the usage error that `argv` gives.
  std::string complaint(const std::vector<const char*>& argv) {
    try {
      parse(argv);
    } catch (const CLI::ParseError& error) {
      const auto failure = safety::usage_failure(app_, error);
      EXPECT_EQ(failure.code(), ExitCode::kUsage);
      return failure.what();
    }
    return "accepted";
  }

  inline static int calls = 0;

  CLI::App app_{"test", "safetyctl"};
  safety::Command command_;
  std::vector<std::string> texts_;
  std::optional<std::string> name_;
  std::optional<std::int64_t> count_;
  bool json_ = false;
};

TEST_F(Arguments, KeepsEveryTextAsItIs) {
  const std::vector<std::string> texts = {"[a,b]", "[]", "{}",    "%%",   "++",    "",
                                          "\"q\"", "'s", "group", "leaf", "\x01x", "`b`"};
  std::vector<const char*> argv;
  for (const std::string& text : texts) argv.push_back(text.c_str());
  parse(argv);
  EXPECT_EQ(texts_, texts);
}

TEST_F(Arguments, ReadsOptionsBetweenTexts) {
  parse({"a", "--name", "[x]", "b", "--count=7", "--json", "--", "--name"});
  EXPECT_EQ(texts_, (std::vector<std::string>{"a", "b", "--name"}));
  EXPECT_EQ(name_, "[x]");
  EXPECT_EQ(count_, 7);
  EXPECT_TRUE(json_);
}

TEST_F(Arguments, TheChosenCommandRunsWithItsOptions) {
  calls = 0;
  parse({"a"});
  ASSERT_TRUE(command_.run);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(command_.run(), ExitCode::kFindings);
  EXPECT_EQ(calls, 7);
}

TEST_F(Arguments, NamesTheRangeOfANumberAndNotItsValue) {
  for (const char* value : {"0", "11", "zebra", "", "5x", "99999999999999999999", "1.5", "-1"}) {
    EXPECT_EQ(complaint({"--count", value}),
              "--count: must be a whole number from 1 to 10: see safetyctl group leaf --help");
  }
}

TEST_F(Arguments, ErrorsHoldNoValue) {
  EXPECT_EQ(complaint({"--zebra"}).find("zebra"), std::string::npos);
  EXPECT_EQ(complaint({"--json=zebra"}).find("zebra"), std::string::npos);
  EXPECT_EQ(complaint({"--name", "zebra", "--name", "zebra"}).find("zebra"), std::string::npos);
  EXPECT_NE(complaint({"--zebra"}).find("see safetyctl group leaf --help"), std::string::npos);
}

TEST_F(Arguments, ACommandIsRequired) {
  const char* argv[] = {"safetyctl", "group"};
  try {
    app_.parse(safety::protected_arguments(2, argv));
    FAIL();
  } catch (const CLI::ParseError& error) {
    EXPECT_STREQ(safety::usage_failure(app_, error).what(),
                 "a command of the list is required: see safetyctl group --help");
  }
}

}  // namespace
}  // namespace han::tests
