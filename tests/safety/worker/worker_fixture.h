// WorkerFixture: a database, a Redis and settings for workers of a test, in this process.
//
// Threads: one thread at a time.
// Owns:    database, Redis and files; the PostgreSQL server lives to the end of the program.
#pragma once

#include <memory>
#include <string>

#include "safety/worker/worker.h"
#include "tests/pgqueue/queue_fixture.h"
#include "tests/support/redis_server.h"
#include "tests/support/temp_dir.h"

namespace han::tests {

class WorkerFixture : public QueueFixture {
 protected:
  void SetUp() override;

  // Lines that are added to the settings file, each "key: value\n".
  std::unique_ptr<safety::Worker> make_worker(const std::string& more_settings = "");
  safety::Settings settings(const std::string& more_settings);
  safety::Addresses addresses();

  // Submits texts, or links, and returns their tasks' ids.
  std::vector<pgqueue::Uuid> submit_texts(const std::vector<std::string>& texts);
  std::vector<pgqueue::Uuid> submit_links(const std::vector<std::string>& urls);
  // Waits until no live task is left.
  [[nodiscard]] bool await_drained();
  std::string decision_of(const pgqueue::Uuid& id);
  std::string layers();

  TempDir dir_;
  RedisServer redis_;
  std::string redis_url_;            // empty: a worker without Redis
  std::string redis_password_path_;  // empty: the URL has the password

 private:
  std::vector<pgqueue::Uuid> submit_tasks(std::vector<pgqueue::NewTask> tasks);
};

}  // namespace han::tests
