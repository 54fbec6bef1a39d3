#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

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
  conninfo_ = server().make_database();
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
  const auto tasks = claim(1);
  EXPECT_EQ(tasks.size(), 1U);
  return tasks.empty() ? Lease{} : tasks.front().lease;
}

pgqueue::CompletionOutcome QueueFixture::complete(const Lease& lease) {
  const pgqueue::Completion completion = completion_of(lease);
  return queue_->complete({&completion, 1}, nullptr, soon()).front();
}

void QueueFixture::expire_leases() {
  execute(
      "UPDATE message_safety.safety_tasks SET lease_until = clock_timestamp() - interval '1 ms' "
      "WHERE state = 'leased'");
}

}  // namespace han::tests
