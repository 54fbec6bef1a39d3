#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "safety/base/digest.h"
#include "safety/base/hex.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

std::string hash_of(const std::string& password) {
  return "#" + safety::to_hex(safety::sha256(password));
}

class RenderUsers : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(dir_.file("secrets"));
    write("template", "# comment\n\nuser default off\nuser app on {passwords} ~app:*\n  +get\n");
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(dir_.file(name), std::ios::binary) << text;
  }
  void secret(const std::string& text) { write("secrets/redis_app_password", text); }
  std::string read(const std::string& name) const {
    std::ifstream file(dir_.file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // What it said, and "exit N" after an error.
  std::string run() {
    const auto log = dir_.file("log");
    std::filesystem::remove(log);
    Process script({.argv = {"/bin/sh", "compose/redis/render_users.sh", dir_.file("template"),
                             dir_.file("secrets"), dir_.file("users.acl")},
                    .output_path = log});
    const auto status = script.wait(safety::Deadline::after(std::chrono::seconds(30)));
    if (!status) return "hangs";
    return read("log") + (status->code == 0 ? "" : "exit " + std::to_string(status->code));
  }

  TempDir dir_;
};

TEST_F(RenderUsers, PutsTheHashOfEachPasswordIntoTheUsersLine) {
  const std::string odd = "two words \\ $HOME `id` * ' \" \xc3\xa9";
  secret(odd + "\nprevious");
  EXPECT_EQ(run(), "");
  EXPECT_EQ(read("users.acl"), "user default off\nuser app on " + hash_of(odd) + " " +
                                   hash_of("previous") + " ~app:* +get\n");
  struct stat status {};
  ASSERT_EQ(::stat(dir_.file("users.acl").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  secret("one\n");
  EXPECT_EQ(run(), "");
  EXPECT_EQ(read("users.acl"),
            "user default off\nuser app on " + hash_of("one") + " ~app:* +get\n");
}

TEST_F(RenderUsers, RefusesBadSecretsAndLeavesTheFileAsItWas) {
  write("users.acl", "old");
  const auto refused = [&](const std::string& word) {
    const std::string said = run();
    EXPECT_NE(said.find(word), std::string::npos) << said;
    EXPECT_NE(said.find("exit 1"), std::string::npos) << said;
    EXPECT_EQ(said.find("hunter2"), std::string::npos) << "it names a password";
    EXPECT_EQ(read("users.acl"), "old");
    EXPECT_FALSE(std::filesystem::exists(dir_.file("users.acl.new")));
  };
  refused("the secret of user app cannot be read");
  std::filesystem::create_directory(dir_.file("secrets/redis_app_password"));
  refused("cannot be read");
  std::filesystem::remove(dir_.file("secrets/redis_app_password"));
  secret("");
  refused("is empty");
  for (const char* text : {"\n", "hunter2\n\n", "\nhunter2\n"}) {
    secret(text);
    refused("has an empty line");
  }
  secret("hunter2\r\n");
  refused("carriage return");
  secret("hunter2\nb\nc\n");
  refused("more than two lines");
  secret("hunter2\n");
  write("template", "# nothing\n");
  refused("no users");
  write("template", "user app on {passwords}\nuse app\n");
  refused("no user");
  std::filesystem::remove(dir_.file("template"));
  refused("the template cannot be read");
}

}  // namespace
}  // namespace han::tests
