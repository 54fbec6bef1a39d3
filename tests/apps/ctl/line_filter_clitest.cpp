#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "safety/apps/ctl/line_filter.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/support/await.h"
#include "tests/support/process.h"

namespace han::tests {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

std::vector<Json> lines_of(const CtlResult& result) {
  std::vector<Json> all;
  std::istringstream text(result.out);
  for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line));
  return all;
}

TEST(LineFilter, ABadLineGivesAnErrorInItsPlace) {
  const auto result = run_ctl({"url"}, {.input = "\"http://a/\"\n\nzebra\n7\n\"http://b/\""});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(is_one_line_error(result));
  const auto lines = lines_of(result);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0]["host"], "a");
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(lines[i].size(), 1U);
    EXPECT_THAT(lines[i]["error"].get<std::string>(),
                HasSubstr("line " + std::to_string(i + 1) + " is not"));
  }
  EXPECT_EQ(lines[4]["host"], "b");
  EXPECT_FALSE(result.shows("zebra"));
}

TEST(LineFilter, ALineBeyondTheLimitIsABadLineAndTheNextIsRead) {
  const std::string beyond((std::size_t{8} << 20) + 1, 'a');
  const auto result =
      run_ctl({"url", "-"}, {.input = "\"" + beyond + "\"\n\"http://b/\"\n" + beyond});
  EXPECT_EQ(result.code, 1);
  const auto lines = lines_of(result);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].contains("error"));
  EXPECT_EQ(lines[1]["host"], "b");
  EXPECT_TRUE(lines[2].contains("error"));
}

TEST(LineFilter, NoInputIsNoOutput) {
  const auto result = run_ctl({"url"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out + result.err, "");
}

TEST(LineFilter, AnswersALineBeforeTheNextIsWritten) {
  const TempDir folder;
  const std::string fifo = (folder.path() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  Process process(
      {.argv = {std::string(std::getenv("SAFETY_BIN_DIR")) + "/safetyctl", "url", "--file", fifo},
       .output_path = (folder.path() / "out").string()});
  std::ofstream writer(fifo);
  for (std::ptrdiff_t count = 1; count <= 3; ++count) {
    writer << "\"http://a/\"\n" << std::flush;
    EXPECT_TRUE(await([&] {
      const std::string out = process.output();
      return std::count(out.begin(), out.end(), '\n') == count;
    }));
  }
  writer.close();
  const auto status = process.wait(safety::Deadline::after(kAwaitLimit));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 0);
}

TEST(LineFilter, ReadsOneInput) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"url", "zebra"}, {"url", "-", "--file", "x"}, {"url", "-", "-"}}) {
    const auto result = run_ctl(wrong);
    EXPECT_EQ(result.code, 2);
    EXPECT_TRUE(is_one_line_error(result));
    EXPECT_FALSE(result.shows("zebra"));
  }
  const auto missing = run_ctl({"url", "--file", "zebra"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_FALSE(missing.shows("zebra"));
}

}  // namespace
}  // namespace han::tests
