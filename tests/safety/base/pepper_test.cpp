#include "safety/base/pepper.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace han::tests {
namespace {

using safety::parse_peppers;
using safety::PepperError;

const std::string kKey(64, 'a');
const std::string kOtherKey(64, 'b');

std::string error_of(const std::string& file_text) {
  try {
    parse_peppers(file_text);
  } catch (const PepperError& error) {
    return error.what();
  }
  return "";
}

TEST(Pepper, TheFirstIsCurrentAndTheSecondIsPrevious) {
  const auto set =
      parse_peppers("# rotated in May\np2 " + kKey + "\n\np1 " + kOtherKey + " # old\n");
  EXPECT_EQ(set.current.id, "p2");
  ASSERT_TRUE(set.previous.has_value());
  EXPECT_EQ(set.previous->id, "p1");
  EXPECT_NE(set.current.key.mac("text", "m"), set.previous->key.mac("text", "m"));
}

TEST(Pepper, TheKeyIsTheBytesOfTheDigits) {
  const auto set = parse_peppers("p1 " + kKey);
  EXPECT_FALSE(set.previous.has_value());
  const safety::HmacKey key(safety::as_bytes(std::string(32, '\xaa')));
  EXPECT_EQ(set.current.key.mac("text", "m"), key.mac("text", "m"));
}

TEST(Pepper, WindowsLineEndsAreFine) {
  EXPECT_EQ(parse_peppers("p1 " + kKey + "\r\n\r\n").current.id, "p1");
}

TEST(Pepper, RefusesWhatIsNotAPepperAndNamesTheLine) {
  EXPECT_NE(error_of("").find("no pepper"), std::string::npos);
  EXPECT_NE(error_of("# nothing\n").find("no pepper"), std::string::npos);
  EXPECT_NE(error_of("\np1\n").find("line 2"), std::string::npos);
  EXPECT_NE(error_of("p1 " + kKey + " more").find("nothing more"), std::string::npos);
  EXPECT_NE(error_of("P1 " + kKey).find("the id"), std::string::npos);
  EXPECT_NE(error_of("p2345678901234567 " + kKey).find("the id"), std::string::npos);
  EXPECT_NE(error_of("p1 " + kKey.substr(2)).find("64 hex"), std::string::npos);
  EXPECT_NE(error_of("p1 " + kKey + "a").find("64 hex"), std::string::npos);
  EXPECT_NE(error_of("p1 " + std::string(64, 'x')).find("64 hex"), std::string::npos);
  EXPECT_NE(error_of("p1 " + kKey + "\np1 " + kOtherKey).find("same id"), std::string::npos);
  EXPECT_NE(error_of("a " + kKey + "\nb " + kKey + "\nc " + kKey).find("at most two"),
            std::string::npos);
}

TEST(Pepper, ErrorsNeverShowTheKey) {
  const std::string secret = "5ec3e75ec3e75ec3e75ec3e7";
  for (const std::string& text : {"p1 " + secret, secret, "p1 x" + secret, secret + " " + kKey}) {
    const std::string error = error_of(text);
    ASSERT_FALSE(error.empty());
    EXPECT_EQ(error.find(secret.substr(0, 8)), std::string::npos) << error;
  }
}

TEST(Pepper, ReadsAFileAndSaysWhichOneIsMissing) {
  const auto path = std::filesystem::temp_directory_path() / "han_pepper_test.txt";
  std::ofstream(path) << "p1 " << kKey << "\n";
  EXPECT_EQ(safety::load_peppers(path.string()).current.id, "p1");
  std::filesystem::remove(path);
  EXPECT_THROW(safety::load_peppers(path.string()), PepperError);
}

}  // namespace
}  // namespace han::tests
