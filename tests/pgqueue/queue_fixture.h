// QueueFixture: a queue on a fresh database of a server that all tests of the program share.
//
// With HAN_SAFETY_TEST_POOLER=pgbouncer in the environment every connection goes through PgBouncer
// in transaction mode (R25).
//
// Threads: one thread at a time.
// Owns:    the database's pool; the server lives to the end of the program.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "pgqueue/queue.h"
#include "tests/support/pg_server.h"

namespace han::tests {

using namespace std::chrono_literals;

inline safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(30)); }

class QueueFixture : public ::testing::Test {
 protected:
  static PgServer& server();

  void SetUp() override;
  // The connection string that leads to the same database the way this program goes.
  static std::string front(const std::string& conninfo);
  // The socket behind which the server, or the pooler, listens.
  static std::string front_socket_path();
  // Where the program goes through the pooler, it prints at its end that this test did not, and
  // why.
  static void note_direct(const std::string& reason);
  // For a test that is about sessions: it goes straight to the server.
  void use_sessions(const std::string& reason);
  // Another queue on the same database.
  void open(pgqueue::QueueOptions options);

  // Submits `count` tasks of kind "text" and returns their ids.
  std::vector<pgqueue::Uuid> submit(std::size_t count);
  // Claims up to `count` tasks from the start of the index.
  std::vector<pgqueue::ClaimedTask> claim(std::size_t count);
  // Claims the only task, a suspect too.
  pgqueue::Lease claim_one();
  pgqueue::CompletionOutcome complete(const pgqueue::Lease& lease);
  std::string value(const std::string& sql) { return pg_value(conninfo_, sql); }
  void execute(const std::string& sql) { pg_execute(conninfo_, sql); }
  // Waits until a statement on the database waits for another's lock.
  bool await_lock_wait();
  // Lets every lease look expired to the database's clock.
  void expire_leases();
  // As if most of their time had passed, where no statement holds the task; for leases of a minute.
  void shorten_leases();
  bool are_renewed();

  std::string conninfo_;
  std::string direct_conninfo_;
  std::unique_ptr<pgqueue::Pool> pool_;
  std::unique_ptr<pgqueue::Queue> queue_;
  const pgqueue::Uuid holder_ = pgqueue::Uuid::random();
};

pgqueue::NewTask text_task(std::string payload);
pgqueue::Completion completion_of(const pgqueue::Lease& lease);

}  // namespace han::tests
