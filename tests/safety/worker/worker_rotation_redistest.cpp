// Password rotation under load. Covers 000-X14 and SPEC section 5.
#include <fstream>

#include "tests/safety/worker/redis_trouble_fixture.h"
#include "tests/support/await.h"

namespace han::tests {

class WorkerRotationTest : public RedisTroubleFixture {
 protected:
  static constexpr const char* kOld = "message-safety-secret";
  static constexpr const char* kNew = "another secret of 2026";

  void SetUp() override {
    RedisTroubleFixture::SetUp();
    write_passwords({kOld});
    redis_url_ = "redis://message_safety@127.0.0.1:" + std::to_string(gate_.port());
    redis_password_path_ = dir_.file("redis_password");
  }
  void write_passwords(const std::vector<std::string>& passwords) {
    std::ofstream file(dir_.file("redis_password"));
    for (const std::string& password : passwords) file << password << "\n";
  }
  void set_server(const std::vector<std::string>& passwords) {
    redis_.set_secret("message_safety", passwords);
    ASSERT_EQ(redis_.ask({"ACL", "LOAD"}), "OK");
    redis_.ask({"CLIENT", "KILL", "USER", "message_safety"});
  }
  void work(const std::string& label) {
    submit(texts(label, 100));
    EXPECT_TRUE(await_drained());
  }
};

TEST_F(WorkerRotationTest, B28_TwoLivePasswordsAndNoRestart) {
  const auto worker = start();
  submit(texts("load", 1'500));
  set_server({kNew, kOld});
  work("both are live");
  write_passwords({kNew, kOld});
  set_server({kNew, kOld});
  work("the worker knows both");
  EXPECT_TRUE(redis_is_used_again());
  set_server({kNew});
  work("the old one is gone");
  EXPECT_TRUE(redis_is_used_again());
  write_passwords({kNew});
  set_server({kNew});
  work("over");
  EXPECT_TRUE(redis_is_used_again());
  expect_right();
  // Nobody was sent away.
  EXPECT_EQ(worker->metrics_text().find("han_safety_redis_troubles{kind=\"wrongpass\"}"),
            std::string::npos);
}

TEST_F(WorkerRotationTest, B28_AWorkerThatIsToldLateSaysSoAndLosesNothing) {
  const auto worker = start();
  submit(texts("load", 300));
  set_server({kNew});
  work("locked out");
  EXPECT_TRUE(await([&] {
    return worker->readiness().text.find("redis troubles: wrongpass") != std::string::npos;
  })) << worker->readiness().text;
  EXPECT_TRUE(worker->readiness().is_ready);
  write_passwords({kNew, kOld});
  EXPECT_TRUE(redis_is_used_again());
  expect_right();
  const std::string said = worker->readiness().text + worker->metrics_text();
  EXPECT_EQ(said.find(kOld), std::string::npos);
  EXPECT_EQ(said.find(kNew), std::string::npos);
}

}  // namespace han::tests
