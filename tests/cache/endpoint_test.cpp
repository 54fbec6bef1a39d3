#include "cache/endpoint.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/support/temp_dir.h"
#include "tests/support/test_ca.h"

namespace han::tests {
namespace {

using cache::RedisEndpoint;
using cache::RedisUrl;
using cache::UrlError;

class EndpointTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(dir_.file(name), std::ios::binary) << text;
    return dir_.file(name);
  }
  std::optional<RedisEndpoint> load(const std::string& name = "MESSAGE_SAFETY_REDIS") {
    return RedisEndpoint::from_environment(
        name, [this](const std::string& variable) -> std::optional<std::string> {
          const auto found = environment_.find(variable);
          if (found == environment_.end()) return std::nullopt;
          return found->second;
        });
  }

  TempDir dir_;
  std::map<std::string, std::string> environment_;
};

TEST_F(EndpointTest, AFixedOneGivesItsUrl) {
  const auto urls = RedisEndpoint::fixed(RedisUrl::parse("redis://:pw@h:1")).read();
  ASSERT_EQ(urls.size(), 1u);
  EXPECT_EQ(urls[0].password, "pw");
}

TEST_F(EndpointTest, ADefaultOneLeadsNowhere) { EXPECT_THROW(RedisEndpoint().read(), UrlError); }

TEST_F(EndpointTest, WithoutAUrlThereIsNone) {
  EXPECT_FALSE(load());
  environment_["MESSAGE_SAFETY_REDIS_URL"] = "";
  environment_["MESSAGE_SAFETY_REDIS_PASSWORD_FILE"] = "/nowhere";
  EXPECT_FALSE(load());
}

TEST_F(EndpointTest, TheFileOfTheUrlWinsAndIsReadAgainEachTime) {
  environment_["MESSAGE_SAFETY_REDIS_URL"] = "redis://other";
  environment_["MESSAGE_SAFETY_REDIS_URL_FILE"] = write("url", "redis://:one@h\n");
  const auto endpoint = load();
  ASSERT_TRUE(endpoint);
  EXPECT_EQ(endpoint->read()[0].password, "one");
  write("url", "redis://:two@g\r\n");
  EXPECT_EQ(endpoint->read()[0].password, "two");
  EXPECT_EQ(endpoint->read()[0].host, "g");
  std::filesystem::remove(dir_.file("url"));
  EXPECT_THROW(endpoint->read(), UrlError);
}

// covers 000-A17
TEST_F(EndpointTest, B28_ThePasswordFileHasTheCurrentAndThePreviousPassword) {
  environment_["MESSAGE_SAFETY_REDIS_URL"] = "redis://message_safety@h/0";
  environment_["MESSAGE_SAFETY_REDIS_PASSWORD_FILE"] = write("password", "current\n");
  const auto endpoint = load();
  ASSERT_TRUE(endpoint);
  ASSERT_EQ(endpoint->read().size(), 1u);
  write("password", "next %40\r\ncurrent");
  const auto urls = endpoint->read();
  ASSERT_EQ(urls.size(), 2u);
  EXPECT_EQ(urls[0].password, "next %40") << "a file needs no escapes";
  EXPECT_EQ(urls[1].password, "current");
  for (const auto& url : urls) EXPECT_EQ(url.user, "message_safety");
}

TEST_F(EndpointTest, ThePasswordFileReplacesThePasswordOfTheUrl) {
  environment_["MESSAGE_SAFETY_REDIS_URL"] = "redis://:old@h";
  environment_["MESSAGE_SAFETY_REDIS_PASSWORD_FILE"] = write("password", "new");
  EXPECT_EQ(load()->read()[0].password, "new");
}

TEST_F(EndpointTest, TakesTheCaFileOfItsNameOrTheCommonOne) {
  const TestCa common(dir_, "common");
  const TestCa own(dir_, "own");
  environment_["MESSAGE_SAFETY_REDIS_URL"] = "rediss://h";
  environment_["MESSAGE_SAFETY_REDIS_OPS_URL"] = "rediss://:ops@h";
  EXPECT_EQ(load()->read()[0].ca_file, "");
  environment_["MESSAGE_SAFETY_REDIS_CA_FILE"] = common.file();
  EXPECT_EQ(load()->read()[0].ca_file, common.file());
  EXPECT_EQ(load("MESSAGE_SAFETY_REDIS_OPS")->read()[0].ca_file, common.file());
  EXPECT_EQ(load("MESSAGE_SAFETY_REDIS_OPS")->read()[0].password, "ops");
  environment_["MESSAGE_SAFETY_REDIS_OPS_CA_FILE"] = own.file();
  EXPECT_EQ(load("MESSAGE_SAFETY_REDIS_OPS")->read()[0].ca_file, own.file());
}

TEST_F(EndpointTest, RefusesACaFileWithoutCertificates) {
  environment_["MESSAGE_SAFETY_REDIS_URL"] = "rediss://h";
  environment_["MESSAGE_SAFETY_REDIS_CA_FILE"] = write("ca", "zebra");
  EXPECT_THROW(load(), UrlError);
  environment_["MESSAGE_SAFETY_REDIS_CA_FILE"] = "/nowhere";
  EXPECT_THROW(load(), UrlError);
  environment_["MESSAGE_SAFETY_REDIS_URL"] = "redis://h";
  EXPECT_TRUE(load()) << "not used without TLS";
}

TEST_F(EndpointTest, RefusesBadFilesWithoutRepeatingThem) {
  const auto url = write("url", "redis://app@h");
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("zebra\n\n"), std::string("\nzebra"),
        std::string("zebra\nzebra\nzebra"), std::string(RedisEndpoint::kFileBytesMax + 1, 'z')}) {
    environment_["MESSAGE_SAFETY_REDIS_URL_FILE"] = url;
    environment_["MESSAGE_SAFETY_REDIS_PASSWORD_FILE"] = write("password", text);
    try {
      load();
      ADD_FAILURE() << "accepted: " << text.substr(0, 100);
    } catch (const UrlError& error) {
      EXPECT_EQ(std::string(error.what()).find("zebra"), std::string::npos) << error.what();
      EXPECT_TRUE(std::string(error.what()).starts_with("MESSAGE_SAFETY_REDIS_PASSWORD_FILE "))
          << error.what();
    }
  }
  environment_.erase("MESSAGE_SAFETY_REDIS_PASSWORD_FILE");
  EXPECT_THROW(load(), UrlError) << "a user without a password";
  for (const char* text : {"", "redis://zebra\nredis://zebra", "zebra"}) {
    environment_["MESSAGE_SAFETY_REDIS_URL_FILE"] = write("url", text);
    EXPECT_THROW(load(), UrlError);
  }
  environment_["MESSAGE_SAFETY_REDIS_URL_FILE"] = dir_.path().string();
  EXPECT_THROW(load(), UrlError) << "a folder";
}

TEST_F(EndpointTest, ReadsTheVariablesOfTheProcess) {
  EXPECT_TRUE(RedisEndpoint::process_environment("PATH"));
  EXPECT_FALSE(RedisEndpoint::process_environment("HAN_SAFETY_NO_SUCH_VARIABLE"));
}

}  // namespace
}  // namespace han::tests
