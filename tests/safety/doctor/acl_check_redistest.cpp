#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "safety/doctor/acl_check.h"
#include "tests/safety/doctor/doctor_fixture.h"
#include "tests/support/await.h"

namespace han::tests {
namespace {

using safety::AclRole;
using safety::Diagnoses;
using State = safety::Diagnosis::State;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class AclCheck : public ::testing::Test {
 protected:
  safety::Diagnosis check(AclRole role, const std::string& user) const {
    const auto connection = cache::Connection::open(cache::RedisUrl::parse(server_.ops_url()), {},
                                                    safety::Deadline::after(kAwaitLimit))
                                .connection;
    Diagnoses diagnoses;
    check_acl(*connection, role, user, {}, diagnoses);
    return diagnosis(diagnoses, "redis.acl." + std::string(shipped_user(role)));
  }
  safety::Diagnosis check(AclRole role) const {
    return check(role, std::string(shipped_user(role)));
  }
  void set_user(std::vector<std::string> rules) const {
    rules.insert(rules.begin(), {"ACL", "SETUSER"});
    ASSERT_EQ(server_.ask(rules), "OK");
  }

  const RedisServer server_{good_redis()};
};

// covers 000-X01 000-K06
TEST_F(AclCheck, UsersAsShippedAreWell) {
  for (const AclRole role : {AclRole::kApp, AclRole::kOps, AclRole::kHealth}) {
    const auto found = check(role);
    EXPECT_EQ(found.state, State::kOk) << found.check << ": " << found.seen;
    EXPECT_EQ(found.seen, std::to_string(acl_probes(role).size()) + " commands asked about");
  }
}

TEST_F(AclCheck, FindsARightThatIsTooMuch) {
  set_user({"message_safety", "+keys", "+script|flush"});
  auto found = check(AclRole::kApp);
  EXPECT_EQ(found.state, State::kFinding);
  EXPECT_EQ(found.seen, "it may: keys *, script flush");
  set_user({"ops", "+set", "~*"});
  found = check(AclRole::kOps);
  EXPECT_EQ(found.state, State::kFinding);
  EXPECT_THAT(found.seen, HasSubstr("it may: set"));
  set_user({"ops_health", "+config|get"});
  EXPECT_EQ(check(AclRole::kHealth).seen, "it may: config get maxmemory");
}

TEST_F(AclCheck, FindsAForeignPrefixAndAForeignChannel) {
  set_user({"message_safety", "~*", "&*"});
  EXPECT_THAT(check(AclRole::kApp).seen, AllOf(HasSubstr("get other"), HasSubstr("subscribe other"),
                                               HasSubstr("evalsha"), Not(HasSubstr("may not"))));
}

TEST_F(AclCheck, FindsARightThatIsMissing) {
  set_user({"message_safety", "-publish", "-get"});
  const auto found = check(AclRole::kApp);
  EXPECT_EQ(found.state, State::kFinding);
  EXPECT_EQ(found.seen, "it may not: get han:safety:x, publish han:safety:wakeup 1");
}

// The words of the server's own list of what the user may.
std::vector<std::string> grants_of(const std::string& listed) {
  std::vector<std::string> grants;
  std::istringstream words(listed);
  for (std::string word; words >> word;) {
    if (word.starts_with('+')) grants.push_back(word.substr(1));
  }
  return grants;
}

// covers 000-X01
TEST_F(AclCheck, FindsEachGrantOfTheTemplateThatIsMissing) {
  for (const AclRole role : {AclRole::kApp, AclRole::kOps, AclRole::kHealth}) {
    const std::string user(shipped_user(role));
    const auto grants = grants_of(server_.ask({"ACL", "GETUSER", user}));
    EXPECT_GE(grants.size(), 2U);
    for (const std::string& grant : grants) {
      // The check itself needs these two.
      if (role == AclRole::kOps && (grant == "ping" || grant == "acl|dryrun")) continue;
      set_user({user, "-" + grant});
      EXPECT_EQ(check(role).state, State::kFinding) << user << ' ' << grant;
      set_user({user, "+" + grant});
    }
  }
}

TEST_F(AclCheck, AUserThatIsNotThereIsNotChecked) {
  ASSERT_EQ(server_.ask({"ACL", "DELUSER", "ops_health"}), "1");
  const auto found = check(AclRole::kHealth);
  EXPECT_EQ(found.state, State::kNotChecked);
  EXPECT_THAT(found.seen, HasSubstr("no user of this name"));
}

TEST_F(AclCheck, WithoutDryrunNothingPasses) {
  set_user({"ops", "-acl|dryrun"});
  const auto found = check(AclRole::kApp);
  EXPECT_EQ(found.state, State::kNotChecked);
  EXPECT_THAT(found.seen, HasSubstr("may not ACL DRYRUN"));
}

}  // namespace
}  // namespace han::tests
