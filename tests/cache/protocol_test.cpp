#include "cache/protocol.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace han::tests {
namespace {

using cache::CommandBuffer;
using cache::ErrorClass;
using cache::Reply;
using cache::ReplyReader;

TEST(CommandBuffer, WritesArgumentsWithTheirLengths) {
  CommandBuffer commands;
  commands.add({"SET", "k", std::string_view("a\0\r\n", 4)});
  commands.add({"PING"});
  EXPECT_EQ(commands.count(), 2u);
  EXPECT_EQ(commands.bytes(),
            std::string("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\na\0\r\n\r\n*1\r\n$4\r\nPING\r\n", 44));
}

TEST(CommandBuffer, TakesManyArguments) {
  CommandBuffer commands;
  const std::vector<std::string_view> arguments(1000, "x");
  commands.add(arguments);
  EXPECT_TRUE(commands.bytes().starts_with("*1000\r\n$1\r\nx\r\n"));
}

TEST(ReplyReader, ReadsEachKindOfReply) {
  ReplyReader reader;
  ASSERT_TRUE(reader.feed("+OK\r\n:-42\r\n$5\r\nhello\r\n$-1\r\n-NOAUTH secret\r\n"));
  Reply reply;
  ASSERT_EQ(reader.next(reply), ReplyReader::Outcome::kReply);
  EXPECT_TRUE(reply.is_status("OK"));
  ASSERT_EQ(reader.next(reply), ReplyReader::Outcome::kReply);
  EXPECT_EQ(reply.kind, Reply::Kind::kInteger);
  EXPECT_EQ(reply.integer, -42);
  ASSERT_EQ(reader.next(reply), ReplyReader::Outcome::kReply);
  EXPECT_EQ(reply.kind, Reply::Kind::kBulk);
  EXPECT_EQ(reply.text, "hello");
  ASSERT_EQ(reader.next(reply), ReplyReader::Outcome::kReply);
  EXPECT_EQ(reply.kind, Reply::Kind::kNil);
  ASSERT_EQ(reader.next(reply), ReplyReader::Outcome::kReply);
  EXPECT_TRUE(reply.is_error());
  EXPECT_EQ(reply.error, ErrorClass::kNoauth);
  EXPECT_TRUE(reply.text.empty()) << "an error must not carry the server's text";
  EXPECT_EQ(reader.next(reply), ReplyReader::Outcome::kNeedsMore);
  EXPECT_TRUE(reader.is_drained());
}

TEST(ReplyReader, ReadsNestedArraysByteByByte) {
  const std::string stream = "*3\r\n*2\r\n:1\r\n$1\r\na\r\n*-1\r\n*0\r\n";
  ReplyReader reader;
  Reply reply;
  for (const char byte : stream) {
    EXPECT_EQ(reader.next(reply), ReplyReader::Outcome::kNeedsMore);
    ASSERT_TRUE(reader.feed(std::string(1, byte)));
  }
  ASSERT_EQ(reader.next(reply), ReplyReader::Outcome::kReply);
  ASSERT_EQ(reply.elements.size(), 3u);
  ASSERT_EQ(reply.elements[0].elements.size(), 2u);
  EXPECT_EQ(reply.elements[0].elements[0].integer, 1);
  EXPECT_EQ(reply.elements[0].elements[1].text, "a");
  EXPECT_EQ(reply.elements[1].kind, Reply::Kind::kNil);
  EXPECT_EQ(reply.elements[2].kind, Reply::Kind::kArray);
}

TEST(ReplyReader, StaysBrokenAfterGarbage) {
  ReplyReader reader;
  EXPECT_FALSE(reader.feed("+OK\r\n?\r\n"));
  Reply reply;
  EXPECT_EQ(reader.next(reply), ReplyReader::Outcome::kBroken);
  EXPECT_FALSE(reader.feed("+OK\r\n"));
  EXPECT_FALSE(reader.is_drained());
}

TEST(ReplyReader, AnswersAnOversizedValueAsAnErrorAndGoesOn) {
  ReplyReader reader;
  const std::string large(200'000, 'x');
  ASSERT_TRUE(reader.feed("*2\r\n$200000\r\n" + large + "\r\n:5\r\n"));
  Reply reply;
  ASSERT_EQ(reader.next(reply), ReplyReader::Outcome::kReply);
  EXPECT_EQ(reply.elements[0].error, ErrorClass::kOversized);
  EXPECT_EQ(reply.elements[1].integer, 5);
}

TEST(ReplyReader, FreesAHalfReadReply) {
  ReplyReader reader;
  ASSERT_TRUE(reader.feed("*2\r\n$5\r\nhello\r\n"));
  Reply reply;
  EXPECT_EQ(reader.next(reply), ReplyReader::Outcome::kNeedsMore);
}

// Bytes of memory that this process has in use.
std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(ReplyReader, B34_HugeHeadersAndDeepNestingCostNoMemory) {
  std::string bomb;
  for (int i = 0; i < 100'000; ++i) bomb += "*1\r\n";
  const std::string block(64 * 1024, 'x');
  const auto before = resident_bytes();
  for (int i = 0; i < 20; ++i) {
    for (const std::string_view header :
         {std::string_view("*4294967295\r\n"), std::string_view("$1073741824\r\n"),
          std::string_view("*9223372036854775807\r\n"), std::string_view(bomb)}) {
      ReplyReader reader;
      EXPECT_FALSE(reader.feed(header)) << header.substr(0, 40);
      Reply reply;
      EXPECT_EQ(reader.next(reply), ReplyReader::Outcome::kBroken);
    }
  }
  // Over the limit of a value, and under that of what is dropped.
  ReplyReader reader;
  ASSERT_TRUE(reader.feed("$" + std::to_string(500 * block.size()) + "\r\n"));
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(reader.feed(block));
  ASSERT_TRUE(reader.feed("\r\n"));
  Reply reply;
  ASSERT_EQ(reader.next(reply), ReplyReader::Outcome::kReply);
  EXPECT_EQ(reply.error, ErrorClass::kOversized);
  EXPECT_LT(resident_bytes(), before + 10'000'000);
}

}  // namespace
}  // namespace han::tests
