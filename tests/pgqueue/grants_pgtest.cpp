#include <gmock/gmock.h>

#include <ostream>

#include "pgqueue/grants.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::pgqueue {

// For the words of a failed test.
static void PrintTo(const Grant& grant, std::ostream* out) {
  *out << grant.role << ' ' << grant.object << ' ' << grant.privilege;
}

}  // namespace han::pgqueue

namespace han::tests {
namespace {

using pgqueue::Grant;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Eq;
using ::testing::Not;
using ::testing::Pointwise;

class Grants : public QueueFixture {
 protected:
  void SetUp() override {
    QueueFixture::SetUp();
    direct_ = std::make_unique<pgqueue::Connection>(direct_conninfo_, soon());
    note_direct("roles are made over a direct connection");
    pgqueue::Migrator(*direct_).apply_roles(names_, soon());
  }
  std::vector<Grant> read() { return pgqueue::read_grants(*direct_, names_, soon()); }

  // The names that the fixture's databases have too: other ones would be 'other' to each other.
  const pgqueue::RoleNames names_;
  std::unique_ptr<pgqueue::Connection> direct_;
};

// What the list in grants.cpp says is what the migrations do.
TEST_F(Grants, ThoseOfTheMigrationsAreTheShippedOnes) {
  EXPECT_THAT(read(), Pointwise(Eq(), pgqueue::shipped_grants()));
}

TEST_F(Grants, TellsWhatIsMissingAndWhatIsTooMuch) {
  execute(
      "REVOKE INSERT ON message_safety.verdicts FROM message_safety_worker;"
      "GRANT SELECT (payload) ON message_safety.safety_tasks TO message_safety_readonly;"
      "GRANT SELECT ON message_safety.verdicts TO PUBLIC;"
      "GRANT EXECUTE ON FUNCTION message_safety.pause_kind(text) TO pg_monitor;");
  EXPECT_THAT(read(), AllOf(Not(Contains(Grant{"worker", "table verdicts", "INSERT"})),
                            Contains(Grant{"worker", "table verdicts", "SELECT"}),
                            Contains(Grant{"readonly", "column safety_tasks.payload", "SELECT"}),
                            Contains(Grant{"public", "table verdicts", "SELECT"}),
                            Contains(Grant{"role pg_monitor", "function pause_kind", "EXECUTE"})));
}

TEST_F(Grants, AFunctionThatWasNeverRevokedIsOpenToAll) {
  execute("CREATE FUNCTION message_safety.stray() RETURNS integer LANGUAGE sql AS 'SELECT 1'");
  EXPECT_THAT(read(), Contains(Grant{"public", "function stray", "EXECUTE"}));
}

}  // namespace
}  // namespace han::tests
