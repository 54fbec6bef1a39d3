#include "safety/apps/ctl/input.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "safety/apps/ctl/failure.h"
#include "tests/apps/ctl/ctl_run.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

using safety::Input;
using safety::LineReader;
using Next = LineReader::Next;

class InputFile : public ::testing::Test {
 protected:
  Input open(const std::string& bytes) const {
    write_file(dir_.file("in"), bytes);
    return Input::open(dir_.file("in"));
  }

  // Every line, "<long>" for one that is too long.
  std::vector<std::string> lines_of(const std::string& bytes, std::size_t line_bytes_max) const {
    Input input = open(bytes);
    LineReader reader(input, line_bytes_max);
    std::vector<std::string> lines;
    std::string_view line;
    while (true) {
      const Next next = reader.next(line);
      if (next == Next::kEnd) break;
      lines.push_back(next == Next::kLine ? std::string(line) : "<long>");
      EXPECT_EQ(reader.line_number(), lines.size());
    }
    EXPECT_EQ(reader.bytes_read(), bytes.size());
    EXPECT_EQ(reader.next(line), Next::kEnd);
    return lines;
  }

  TempDir dir_;
};

using Lines = std::vector<std::string>;

TEST_F(InputFile, ReadsAtMostWhatIsAsked) {
  Input input = open("hello");
  EXPECT_EQ(input.size(), 5U);
  EXPECT_EQ(input.read(3), "hel");
  EXPECT_EQ(input.read(3), "lo");
  EXPECT_EQ(input.read(3), "");
}

TEST_F(InputFile, DiscardsTheRest) {
  Input input = open(std::string(1'000'000, 'a'));
  EXPECT_EQ(input.read(1), "a");
  input.discard_rest();
  EXPECT_EQ(input.read(1), "");
}

TEST_F(InputFile, RefusesAMissingFileAndAFolderWithoutNamingThem) {
  for (const std::string& path : {dir_.file("zebra"), dir_.path().string()}) {
    try {
      Input::open(path);
      FAIL();
    } catch (const safety::Failure& failure) {
      EXPECT_EQ(failure.code(), safety::ExitCode::kFailure);
      EXPECT_EQ(std::string(failure.what()).find(path), std::string::npos);
    }
  }
}

TEST_F(InputFile, SplitsLines) {
  EXPECT_EQ(lines_of("", 10), Lines{});
  EXPECT_EQ(lines_of("\n", 10), Lines{""});
  EXPECT_EQ(lines_of("a\n\nb", 10), (Lines{"a", "", "b"}));
  EXPECT_EQ(lines_of("a\nb\n", 10), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of(std::string("a\0b\n", 4), 10), Lines{std::string("a\0b", 3)});
}

TEST_F(InputFile, SplitsLinesAcrossReads) {
  const std::string a(100'000, 'a');
  const std::string b(200'000, 'b');
  EXPECT_EQ(lines_of(a + "\n" + b + "\nc\n", 1'000'000), (Lines{a, b, "c"}));
}

TEST_F(InputFile, ALineThatIsTooLongIsSkippedToItsEnd) {
  const std::string fits(10, 'f');
  for (const std::size_t size : {11U, 65'535U, 65'536U, 65'537U, 300'000U}) {
    const std::string text(size, 'x');
    EXPECT_EQ(lines_of(fits + "\n" + text + "\n" + fits + "\n", 10), (Lines{fits, "<long>", fits}));
    EXPECT_EQ(lines_of(text, 10), Lines{"<long>"});
    EXPECT_EQ(lines_of(text + "\n", 10), Lines{"<long>"});
    EXPECT_EQ(lines_of(text + "\n" + text, 10), (Lines{"<long>", "<long>"}));
  }
}

TEST_F(InputFile, TheStartOfALongLineIsKept) {
  Input input = open("\"" + std::string(100'000, 'x') + "\"\n");
  LineReader reader(input, 10);
  std::string_view line;
  ASSERT_EQ(reader.next(line), Next::kTooLong);
  EXPECT_EQ(line.substr(0, 3), "\"xx");
}

TEST_F(InputFile, ALongLineIsToldBeforeItsEndWasRead) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "0123456789abc", 13), 13);
  {
    Input input = Input::open("/dev/fd/" + std::to_string(ends[0]));
    LineReader reader(input, 10);
    std::string_view line;
    ASSERT_EQ(reader.next(line), Next::kTooLong);
    EXPECT_TRUE(reader.may_block());
    ASSERT_EQ(::write(ends[1], "d\nshort\n", 8), 8);
    ASSERT_EQ(reader.next(line), Next::kLine);
    EXPECT_EQ(line, "short");
    EXPECT_EQ(reader.line_number(), 2U);
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(InputFile, ALineWithoutEndIsGivenUp) {
  Input input = open(std::string(1'000'000, 'x') + "\n");
  LineReader reader(input, 10, 300'000);
  std::string_view line;
  ASSERT_EQ(reader.next(line), Next::kTooLong);
  try {
    reader.next(line);
    FAIL() << "an endless line was skipped";
  } catch (const safety::Failure& failure) {
    EXPECT_STREQ(failure.what(),
                 "line 1 of the input does not end: end each line with a line feed");
  }
  EXPECT_LT(reader.bytes_read(), 500'000U);
}

TEST_F(InputFile, EndsWhenItIsTold) {
  std::array<int, 2> ends{};
  std::array<int, 2> stop{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::pipe(stop.data()), 0);
  ASSERT_EQ(::write(ends[1], "one\ntw", 6), 6);
  {
    Input input = Input::open("/dev/fd/" + std::to_string(ends[0]));
    input.end_on(stop[0]);
    EXPECT_EQ(input.read(6), "one\ntw");
    ASSERT_EQ(::write(stop[1], "!", 1), 1);
    EXPECT_EQ(input.read(6), "");
  }
  for (const int fd : {ends[0], ends[1], stop[0], stop[1]}) ::close(fd);
}

TEST_F(InputFile, SaysWhenTheNextLineMayHaveToBeWaitedFor) {
  Input input = open("a\nb\nc");
  LineReader reader(input, 10);
  std::string_view line;
  EXPECT_TRUE(reader.may_block());
  ASSERT_EQ(reader.next(line), Next::kLine);
  EXPECT_FALSE(reader.may_block());
  ASSERT_EQ(reader.next(line), Next::kLine);
  EXPECT_TRUE(reader.may_block());
}

TEST_F(InputFile, ALineIsGivenBeforeTheWriterEnds) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "one\ntw", 6), 6);
  {
    Input input = Input::open("/dev/fd/" + std::to_string(ends[0]));
    LineReader reader(input, 10);
    std::string_view line;
    ASSERT_EQ(reader.next(line), Next::kLine);
    EXPECT_EQ(line, "one");
    ASSERT_EQ(::write(ends[1], "o\n", 2), 2);
    ASSERT_EQ(reader.next(line), Next::kLine);
    EXPECT_EQ(line, "two");
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace han::tests
