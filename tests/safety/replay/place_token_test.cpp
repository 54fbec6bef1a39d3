#include "safety/replay/place_token.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

using safety::PlaceError;
using safety::PlaceToken;

TEST(PlaceToken, IsAWordOfKindAndFirstDigits) {
  const auto place = PlaceToken::at("text", "\x9f\x3a\xc2\x10 and 27 more bytes");
  EXPECT_EQ(place.str(), "text:9f3ac210");
  EXPECT_EQ(PlaceToken::parse("text:9f3ac210"), place);
  EXPECT_EQ(PlaceToken::at("link", "a").str(), "link:61000000");
}

TEST(PlaceToken, AnythingElseIsNone) {
  for (const auto* text : {"", ":", "text", "text:", ":9f3ac210", "text:9f3ac21", "text:9f3ac2101",
                           "text:9F3AC210", "text:9f3ac21g", "te xt:9f3ac210", "text:9f3ac210\n"}) {
    EXPECT_FALSE(PlaceToken::parse(text).has_value()) << text;
  }
}

TEST(PlaceToken, AStateFileKeepsTheLastOne) {
  const TempDir dir;
  const std::string path = dir.file("state");
  EXPECT_FALSE(safety::read_place(path).has_value());
  safety::write_place(path, PlaceToken::at("text", "aaaa"));
  safety::write_place(path, PlaceToken::at("text", "bbbb"));
  EXPECT_EQ(safety::read_place(path), PlaceToken::at("text", "bbbb"));
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  safety::remove_place(path);
  EXPECT_FALSE(safety::read_place(path).has_value());
}

TEST(PlaceToken, AFileOfAnotherKindIsRefused) {
  const TempDir dir;
  const std::string path = dir.file("state");
  for (const std::string& text :
       {std::string(), std::string("text:9f3ac210\ntext:9f3ac210\n"), std::string(1000, 'a')}) {
    std::ofstream(path) << text;
    EXPECT_THROW(safety::read_place(path), PlaceError);
  }
  EXPECT_THROW(safety::write_place(dir.file("no/folder"), PlaceToken::at("text", "a")), PlaceError);
}

TEST(PlaceToken, APathThatIsNoFileIsRefused) {
  const TempDir dir;
  for (const std::string& path :
       {dir.file(std::string(300, 'a')), dir.file("."), std::string("/dev/null")}) {
    EXPECT_THROW(safety::read_place(path), PlaceError) << path;
  }
  EXPECT_THROW(safety::write_place(dir.file(std::string(300, 'a')), PlaceToken::at("text", "a")),
               PlaceError);
}

TEST(PlaceToken, WhatCannotBeWrittenIsKnownBefore) {
  const TempDir dir;
  EXPECT_THROW(safety::check_writable_place(dir.file("no/folder")), PlaceError);
  EXPECT_THROW(safety::check_writable_place(""), PlaceError);
  safety::check_writable_place(dir.file("state"));
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(PlaceToken, ALinkIsNotFollowed) {
  const TempDir dir;
  const std::string path = dir.file("state");
  std::ofstream(dir.file("other")) << "stays";
  std::filesystem::create_symlink(dir.file("other"), path + ".new");
  safety::write_place(path, PlaceToken::at("text", "aaaa"));
  EXPECT_EQ(std::filesystem::file_size(dir.file("other")), 5U);
  EXPECT_EQ(safety::read_place(path), PlaceToken::at("text", "aaaa"));
}

}  // namespace
}  // namespace han::tests
