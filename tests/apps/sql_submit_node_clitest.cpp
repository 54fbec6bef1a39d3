// Its own main(): without node or its package `pg` the program prints why and exits 77, which ctest
// reports as skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/apps/sql_submit_fixture.h"
#include "tests/support/node_modules.h"

namespace han::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

bool is_skipped = false;

class SqlSubmitNode : public SqlSubmitFixture {};

TEST_F(SqlSubmitNode, SubmitsInItsOwnTransactions) {
  TempDir dir;
  Process process(
      {.argv = {"node", "tests/apps/node/sql_submit.mjs", server().dir().path().string(),
                value("SELECT current_database()"), kUser, kOutsider},
       // Debian's packages of Node lie there.
       .env = {"SAFETY_TEST_NODE_MODULES=" + node_modules_folder(), "NODE_PATH=/usr/share/nodejs"},
       .output_path = dir.file("out")});
  const auto status = process.wait(safety::Deadline::after(std::chrono::seconds(60)));
  ASSERT_TRUE(status);
  const std::string out = process.output();
  std::cout << out;
  const bool has_node = status->code != 127;
  if (!has_node) std::cout << "skipped: node is not installed: Debian package nodejs\n";
  is_skipped = !has_node || status->code == kSkipped;
  if (is_skipped) return;
  ASSERT_EQ(status->code, 0);
  EXPECT_THAT(out, HasSubstr("a user without the role is refused\n"));

  // What the program said is true of the database.
  EXPECT_EQ(messages() + " " + tasks(), "1 1001");
  EXPECT_EQ(value("SELECT encode(payload, 'hex') FROM message_safety.safety_tasks t "
                  "JOIN message_safety.submissions s ON s.task_id = t.id WHERE key = 'message-1'"),
            "6b65707420f09f9880");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks WHERE payload = '\\x00ff'"),
            "1");
  // Parameters stand in no log, though this server logs every statement.
  EXPECT_THAT(server().log(), HasSubstr("submit_tasks("));
  EXPECT_THAT(server().log(), Not(HasSubstr("zebra")));
  EXPECT_THAT(server().log(), Not(HasSubstr("7a65627261")));
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  const int code = RUN_ALL_TESTS();
  return code == 0 && han::tests::is_skipped ? han::tests::kSkipped : code;
}
