#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apps/ctl/ctl_run.h"
#include "tests/apps/sql_submit_fixture.h"

namespace han::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct PsqlResult {
  int code = -1;
  std::string out;  // both streams
};

// Submitting by SQL alone, from psql, by a user who has only the API's role.
class SqlSubmit : public SqlSubmitFixture {
 protected:
  // As in README: the statements of an application, with psql's variables `body` and `key`.
  PsqlResult psql(const std::string& script, const std::string& user = kUser) {
    TempDir dir;
    write_file(dir.file("script.sql"), script);
    Process process({.argv = {"psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-v", "body=it's a zebra",
                              "-v", "key=message-4711", "-v", "VERBOSITY=verbose", "-d",
                              conninfo_ + " user=" + user, "-f", dir.file("script.sql")},
                     .output_path = dir.file("out")});
    const auto status = process.wait(safety::Deadline::after(std::chrono::seconds(60)));
    if (!status) throw std::runtime_error("psql did not end within 60 s");
    if (status->code == 127) {
      throw std::runtime_error("psql is not installed: Debian package postgresql-client");
    }
    return {status->code, process.output()};
  }
};

constexpr const char* kSend = R"sql(
BEGIN;
INSERT INTO messages (body) VALUES (:'body');
SELECT ordinal, outcome FROM message_safety.submit_tasks(
  p_caller   => 'chat',
  p_kinds    => ARRAY['text'],
  p_payloads => ARRAY[convert_to(:'body', 'UTF8')],
  p_keys     => ARRAY[:'key']);
)sql";

TEST_F(SqlSubmit, TheTaskIsCommittedWithTheMessage) {
  const auto result = psql(std::string(kSend) + "COMMIT;\n");
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_EQ(result.out, "1|created\n");
  EXPECT_EQ(messages(), "1");
  const auto claimed = claim(10);
  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_EQ(claimed[0].payload, "it's a zebra");
  EXPECT_EQ(claimed[0].kind, "text");
}

TEST_F(SqlSubmit, ARollbackLeavesNeither) {
  const auto result = psql(std::string(kSend) + "ROLLBACK;\n");
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_EQ(result.out, "1|created\n");
  EXPECT_EQ(messages(), "0");
  EXPECT_EQ(tasks(), "0");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.submissions"), "0");
}

TEST_F(SqlSubmit, TheSameKeyAgainIsTheSameTask) {
  const auto result = psql(std::string(kSend) + "COMMIT;\n" + kSend + "COMMIT;\n");
  EXPECT_EQ(result.out, "1|created\n1|duplicate\n");
  EXPECT_EQ(tasks(), "1");
}

TEST_F(SqlSubmit, OneCallTakesThousands) {
  const auto result = psql(R"sql(
    SELECT count(*), count(DISTINCT task_id), min(ordinal), max(ordinal), min(outcome)
    FROM message_safety.submit_tasks(
      p_caller   => 'chat',
      p_kinds    => array_fill('text'::text, ARRAY[5000]),
      p_payloads => ARRAY(SELECT convert_to('text ' || n, 'UTF8') FROM generate_series(1, 5000) n),
      p_classes  => array_fill(3::smallint, ARRAY[5000]));
  )sql");
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_EQ(result.out, "5000|5000|1|5000|created\n");
  EXPECT_EQ(value("SELECT count(*) FROM message_safety.safety_tasks WHERE class = 3"), "5000");
  EXPECT_EQ(value("SELECT count(DISTINCT submitted_at) FROM message_safety.safety_tasks"), "1");
}

TEST_F(SqlSubmit, TheVerdictIsReadBySqlToo) {
  psql(std::string(kSend) + "COMMIT;\n");
  complete(claim_one());
  const auto result = psql(R"sql(
    SELECT state, decision FROM message_safety.results
    WHERE task_id = (SELECT task_id FROM message_safety.submit_tasks(
      'chat', ARRAY['text'], ARRAY[convert_to(:'body', 'UTF8')], p_keys => ARRAY[:'key']));
  )sql");
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_EQ(result.out, "done|monitor\n");
}

TEST_F(SqlSubmit, AnErrorHasThePositionOfTheTaskAndNotItsContent) {
  const auto result = psql(R"sql(
    SELECT count(*) FROM message_safety.submit_tasks(
      'chat', ARRAY['text', 'text', 'text'],
      ARRAY['fine'::bytea, convert_to(:'body', 'UTF8'), 'fine'::bytea],
      p_classes => ARRAY[1, 77, 1]::smallint[]);
  )sql");
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.out, HasSubstr("HS001: task 2 of the call is invalid"));
  EXPECT_THAT(result.out, Not(HasSubstr("zebra")));
  EXPECT_EQ(tasks(), "0");
}

TEST_F(SqlSubmit, AnUnknownCallerIsRefusedWithTheFix) {
  const auto result = psql(
      "SELECT * FROM message_safety.submit_tasks('nobody', ARRAY['text'], ARRAY['x'::bytea]);\n");
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.out, HasSubstr("HS001: unknown caller"));
  EXPECT_THAT(result.out, HasSubstr("register_caller"));
}

TEST_F(SqlSubmit, AUserWithoutTheRoleIsRefused) {
  const auto result =
      psql("SELECT * FROM message_safety.submit_tasks('chat', ARRAY['text'], ARRAY['x'::bytea]);\n",
           kOutsider);
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.out, HasSubstr("42501: permission denied for schema message_safety"));
  EXPECT_EQ(tasks(), "0");
}

TEST_F(SqlSubmit, TheRoleMaySubmitAndReadAndNothingElse) {
  submit(1);
  for (const std::string statement :
       {"INSERT INTO message_safety.safety_tasks SELECT * FROM message_safety.safety_tasks",
        "UPDATE message_safety.safety_tasks SET class = 0",
        "DELETE FROM message_safety.safety_tasks",
        "SELECT payload FROM message_safety.safety_tasks", "SELECT * FROM message_safety.payloads",
        "DELETE FROM message_safety.results", "SELECT message_safety.register_caller('mine')",
        "SELECT message_safety.pause_kind('text')",
        "SELECT message_safety.erase_task(gen_random_uuid())",
        "SELECT message_safety.end_task(gen_random_uuid(), 'cancelled')"}) {
    const auto result = psql(statement + ";\n");
    EXPECT_EQ(result.code, 3) << statement;
    EXPECT_THAT(result.out, HasSubstr("42501: permission denied")) << statement;
  }
  EXPECT_EQ(psql("SELECT state FROM message_safety.safety_tasks;\n").out, "queued\n");
}

}  // namespace
}  // namespace han::tests
