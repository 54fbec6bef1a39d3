#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "tests/apps/ctl/ctl_run.h"
#include "tests/support/await.h"

namespace han::tests {
namespace {

using ::testing::HasSubstr;

const std::vector<std::vector<std::string>> kCommands = {
    {"check", "text"},  {"explain", "text"}, {"rules", "lint"},    {"rules", "test"},
    {"submit", "text"}, {"task", "show"},    {"task", "cancel"},   {"tasks"},
    {"task", "retry"},  {"task", "erase"},   {"queue", "stats"},   {"queue", "watch"},
    {"queue", "pause"}, {"queue", "resume"}, {"queue", "redrive"}, {"migrate"}};

TEST(Safetyctl, EveryCommandHasHelpWithAnExample) {
  for (auto words : kCommands) {
    std::string name = "safetyctl";
    for (const std::string& word : words) name += " " + word;
    words.emplace_back("--help");
    const auto result = run_ctl(words);
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, HasSubstr("Example:\n  " + name));
    EXPECT_THAT(result.out, HasSubstr("--json"));
    EXPECT_THAT(result.out, ::testing::ContainsRegex("\nExit codes: 0 .*2 usage, .*1 other"));
    EXPECT_EQ(result.err, "");
  }
  EXPECT_THAT(run_ctl({"--help"}).out, HasSubstr("Exit codes: 0"));
}

TEST(Safetyctl, EveryGroupHasHelpWithAnExampleOfItsOwn) {
  for (const auto& words : kCommands) {
    if (words.size() < 2) continue;
    const auto result = run_ctl({words.front(), "--help"});
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, HasSubstr("Example:\n  safetyctl " + words.front() + " "));
  }
}

TEST(Safetyctl, HelpNamesTheExitCodesOfVerdictsAndFindings) {
  for (const std::string group : {"check", "explain", "submit"}) {
    EXPECT_THAT(run_ctl({group, "text", "--help"}).out, HasSubstr("10 block, 11 indeterminate"));
  }
  EXPECT_THAT(run_ctl({"rules", "lint", "--help"}).out, HasSubstr("3 findings"));
}

TEST(Safetyctl, TellsItsVersion) {
  const auto result = run_ctl({"--version"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, ::testing::StartsWith("safetyctl "));
}

TEST(Safetyctl, AnUnknownCommandOrOptionIsWrongUsage) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{}, {"zebra"}, {"--zebra"}, {"check"}, {"zebra", "--help"}}) {
    const auto result = run_ctl(arguments);
    EXPECT_EQ(result.code, arguments.size() == 2 ? 0 : 2);
    EXPECT_FALSE(result.shows("zebra"));
  }
  for (auto words : kCommands) {
    words.emplace_back("--zebra");
    const auto result = run_ctl(words);
    EXPECT_EQ(result.code, 2);
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_FALSE(result.shows("zebra"));
  }
}

TEST(Safetyctl, CommandsOfTheDatabaseSayThatTheyNeedOne) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"submit", "text", "zebra"},
        {"task", "show", "0197c2a0-0000-7000-8000-000000000000"},
        {"task", "cancel", "0197c2a0-0000-7000-8000-000000000000"},
        {"tasks", "--state", "done"},
        {"task", "retry", "0197c2a0-0000-7000-8000-000000000000"},
        {"task", "erase", "0197c2a0-0000-7000-8000-000000000000"},
        {"queue", "stats"},
        {"queue", "watch"},
        {"queue", "pause", "text"},
        {"queue", "resume", "text"},
        {"queue", "redrive", "--reason", "crashed"},
        {"migrate"}}) {
    const auto result = run_ctl(words);
    EXPECT_EQ(result.code, 2);
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_THAT(result.err, HasSubstr("MESSAGE_SAFETY_DATABASE_URL"));
  }
}

TEST(Safetyctl, AWrongOrDeadDatabaseShowsNoPartOfItsAddress) {
  for (const std::string url :
       {"postgresql://op:zebra@127.0.0.1:1/db", "postgresql:/op:zebra@/db", "host= zebra",
        "postgresql://op:ze/bra@127.0.0.1/zebra", "postgresql://op:ze@zebra.invalid/db",
        "postgresql://op:zebra@127.0.0.1:99999/db", "zebra", "port=zebra",
        "host=/nowhere user=op password=zebra"}) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"queue", "stats"}, {"submit", "text", "x"}}) {
      const auto result = run_ctl(words, {.env = {"MESSAGE_SAFETY_DATABASE_URL=" + url}});
      EXPECT_EQ(result.code, 1) << url;
      EXPECT_TRUE(is_one_line_error(result));
      EXPECT_FALSE(result.shows("zebra")) << result.err;
      EXPECT_FALSE(result.shows("bra@")) << result.err;
    }
  }
}

TEST(Safetyctl, LeavesNoCoreDumps) {
  // A FIFO without a writer holds the command at a place where it can be looked at.
  TempDir dir;
  ASSERT_EQ(::mkfifo(dir.file("fifo").c_str(), 0600), 0);
  const char* bin = std::getenv("SAFETY_BIN_DIR");
  ASSERT_NE(bin, nullptr);
  Process process(
      {.argv = {std::string(bin) + "/safetyctl", "check", "text", "--file", dir.file("fifo")}});
  const std::string limits = "/proc/" + std::to_string(process.pid()) + "/limits";
  EXPECT_TRUE(await([&] {
    const std::string text = read_file(limits);
    const std::size_t line = text.find("Max core file size");
    return line != std::string::npos &&
           text.substr(line, 60).find("0                    0") != std::string::npos;
  }));
}

TEST(Safetyctl, AFullDiskIsAnError) {
  const char* bin = std::getenv("SAFETY_BIN_DIR");
  ASSERT_NE(bin, nullptr);
  TempDir dir;
  Process process(
      {.argv = {"/bin/sh", "-c", "exec \"$0\" rules lint examples/rules.yaml >/dev/full",
                std::string(bin) + "/safetyctl"},
       .output_path = dir.file("err")});
  const auto status = process.wait(safety::Deadline::after(std::chrono::seconds(60)));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 1);
  EXPECT_THAT(process.output(), HasSubstr("standard output"));
}

TEST(Safetyctl, AReaderThatGoesAwayEndsItQuietly) {
  const char* bin = std::getenv("SAFETY_BIN_DIR");
  ASSERT_NE(bin, nullptr);
  TempDir dir;
  // The input never ends: only the closed pipe ends the command.
  Process process({.argv = {"/bin/sh", "-c",
                            "yes '\"hello\"' | (\"$0\" check text --lines --rules "
                            "examples/rules.yaml --config examples/config.yaml 2>\"$1\"; "
                            "echo $? >\"$2\") | head -1",
                            std::string(bin) + "/safetyctl", dir.file("err"), dir.file("code")},
                   .output_path = dir.file("out")});
  ASSERT_TRUE(process.wait(safety::Deadline::after(std::chrono::seconds(60))));
  EXPECT_EQ(read_file(dir.file("code")), "1\n");
  EXPECT_EQ(read_file(dir.file("err")), "");
}

}  // namespace
}  // namespace han::tests
