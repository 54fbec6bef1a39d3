#include "tests/pgqueue/queue_fixture.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

#include "tests/support/await.h"
#include "tests/support/pg_bouncer.h"

namespace han::tests {
namespace {

bool has_pooler() {
  const char* pooler = std::getenv("HAN_SAFETY_TEST_POOLER");
  if (pooler == nullptr || *pooler == '\0') return false;
  if (std::string_view(pooler) == "pgbouncer") return true;
  throw std::runtime_error("HAN_SAFETY_TEST_POOLER can only be pgbouncer");
}

PgBouncer& pooler(const PgServer& server) {
  static PgBouncer pooler(server);
  return pooler;
}

// Prints, after the last test, which tests did not go through the pooler.
class Exceptions : public ::testing::Environment {
 public:
  void add(const std::string& reason, const std::string& test) { by_reason_[reason].insert(test); }
  void TearDown() override {
    if (!has_pooler()) return;
    std::printf("R25: all tests went through PgBouncer in transaction mode, except:\n");
    for (const auto& [reason, tests] : by_reason_) {
      std::printf("  %s:\n", reason.c_str());
      for (const std::string& test : tests) std::printf("    %s\n", test.c_str());
    }
  }

 private:
  std::map<std::string, std::set<std::string>> by_reason_;
};

// gtest owns it.
Exceptions* const exceptions = [] {
  auto* mine = new Exceptions;
  ::testing::AddGlobalTestEnvironment(mine);
  return mine;
}();

}  // namespace

using pgqueue::ClaimedTask;
using pgqueue::Lease;
using pgqueue::NewTask;
using pgqueue::Uuid;

PgServer& QueueFixture::server() {
  static PgServer server(
      {.arguments = {"-c", "log_statement=all", "-c", "deadlock_timeout=100ms"}});
  return server;
}

void QueueFixture::SetUp() {
  direct_conninfo_ = server().make_database();
  conninfo_ = front(direct_conninfo_);
  open({});
}

std::string QueueFixture::front(const std::string& conninfo) {
  return has_pooler() ? pooler(server()).through(conninfo) : conninfo;
}

std::string QueueFixture::front_socket_path() {
  return has_pooler() ? pooler(server()).socket_path() : server().socket_path();
}

void QueueFixture::note_direct(const std::string& reason) {
  if (!has_pooler()) return;
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  exceptions->add(reason, std::string(info->test_suite_name()) + "." + info->name());
}

void QueueFixture::use_sessions(const std::string& reason) {
  if (!has_pooler()) return;
  note_direct(reason);
  conninfo_ = direct_conninfo_;
  open({});
}

void QueueFixture::open(pgqueue::QueueOptions options) {
  queue_.reset();
  pool_ = std::make_unique<pgqueue::Pool>(pgqueue::PoolOptions{.conninfo = conninfo_});
  queue_ = std::make_unique<pgqueue::Queue>(*pool_, std::move(options));
}

NewTask text_task(std::string payload) {
  NewTask task;
  task.kind = "text";
  task.payload = std::move(payload);
  return task;
}

pgqueue::Completion completion_of(const Lease& lease) {
  pgqueue::Completion completion;
  completion.lease = lease;
  completion.outcome = pgqueue::Outcome{.decision = "monitor"};
  return completion;
}

std::vector<Uuid> QueueFixture::submit(std::size_t count) {
  std::vector<NewTask> tasks;
  for (std::size_t i = 0; i < count; ++i)
    tasks.push_back(text_task("payload " + std::to_string(i)));
  std::vector<Uuid> ids;
  for (const auto& item : queue_->submit("safetyctl", tasks, soon()).submissions) {
    ids.push_back(item.task_id);
  }
  return ids;
}

std::vector<ClaimedTask> QueueFixture::claim(std::size_t count) {
  pgqueue::IndexCursor cursor;
  return queue_->claim(cursor, count, holder_, soon());
}

Lease QueueFixture::claim_one() {
  auto tasks = claim(1);
  if (tasks.empty()) {
    if (auto suspect = queue_->claim_suspect(holder_, soon())) tasks.push_back(*suspect);
  }
  EXPECT_EQ(tasks.size(), 1U);
  return tasks.empty() ? Lease{} : tasks.front().lease;
}

pgqueue::CompletionOutcome QueueFixture::complete(const Lease& lease) {
  const pgqueue::Completion completion = completion_of(lease);
  return queue_->complete({&completion, 1}, nullptr, soon()).front();
}

bool QueueFixture::await_lock_wait() {
  return await([&] {
    return value(
               "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() "
               "AND wait_event_type = 'Lock'") == "true";
  });
}

void QueueFixture::expire_leases() {
  execute(
      "UPDATE message_safety.safety_tasks SET lease_until = clock_timestamp() - interval '1 ms' "
      "WHERE state = 'leased'");
}

void QueueFixture::shorten_leases() {
  execute(
      "UPDATE message_safety.safety_tasks SET lease_until = clock_timestamp() + interval '20 s' "
      "WHERE id IN (SELECT id FROM message_safety.safety_tasks WHERE state = 'leased' "
      "FOR UPDATE SKIP LOCKED)");
}

bool QueueFixture::are_renewed() {
  return value(
             "SELECT bool_and(lease_until > clock_timestamp() + interval '25 s') "
             "FROM message_safety.safety_tasks WHERE state = 'leased'") == "true";
}

}  // namespace han::tests
