// What looks at the server reads catalogs alone, so that every role may ask.
#include "pgqueue/grants.h"
#include "pgqueue/health.h"
#include "pgqueue/sql.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {
namespace {

class SqlHealth : public QueueFixture {};

TEST_F(SqlHealth, ARoleWithoutAnyRightMayAsk) {
  use_sessions("the role is one of the session's");
  pg_execute(direct_conninfo_, "CREATE ROLE sql_health_nobody LOGIN");
  std::string conninfo = direct_conninfo_;
  conninfo.replace(conninfo.find("user=postgres"), 13, "user=sql_health_nobody");
  pgqueue::Connection connection(conninfo, soon());
  EXPECT_GE(pgqueue::server_facts(connection, soon()).version_number, 150'000);
  EXPECT_EQ(pgqueue::setting_values(connection, {"fsync"}, soon()).size(), 1U);
  EXPECT_TRUE(pgqueue::setting_overrides(connection, {"fsync"}, soon()).empty());
  EXPECT_EQ(pgqueue::role_facts(connection, {}, soon()).size(), 4U);
  EXPECT_GT(pgqueue::foreign_owned(connection, {.owner = "sql_health_nobody"}, soon()), 0);
  EXPECT_EQ(pgqueue::partition_reach(connection, soon()).size(), 3U);
  EXPECT_FALSE(pgqueue::read_grants(connection, {}, soon()).empty());
}

}  // namespace
}  // namespace han::tests
