// DemoRun: the main job on throw-away servers, in four rounds, with workers that die and stall.
//
//   cold            new texts; one worker is killed half way, another is stopped past its lease
//                   while its tasks are claimed anew, then goes on with them
//   warm            half of the texts were seen before
//   redis-flushed   the same, with an empty Redis
//   redis-stopped   the same, without Redis
//
// Threads: one thread at a time.
// Owns:    its servers, workers and folder.
// Blocks:  run() for the whole demo.
// Fails:   std::runtime_error when a server or worker does not start or a round does not end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pgqueue/connection.h"
#include "pgqueue/pool.h"
#include "pgqueue/queue.h"
#include "tests/demo/corpus.h"
#include "tests/demo/demo_worker.h"
#include "tests/demo/tally.h"
#include "tests/support/pg_server.h"
#include "tests/support/redis_server.h"
#include "tests/support/temp_dir.h"

namespace han::tests {

struct DemoOptions {
  std::string source_dir;
  std::string worker_binary;
  std::string cache_dir;
  std::size_t messages = 20'000;
  bool allows_download = true;
  bool is_quiet = false;
  // For the test of invariant I7: a word that every text carries, and a folder for everything that
  // was written anywhere. Errors of many kinds are provoked then, and the server logs every
  // statement.
  std::string marker;
  std::string evidence_dir;
};

class DemoRun {
 public:
  explicit DemoRun(DemoOptions options);

  DemoTally run();
  const std::string& corpus_description() const { return corpus_.description(); }

 private:
  struct RoundPlan {
    const char* name;
    std::size_t seen;  // how many of the round's texts were in an earlier round
  };

  void write_settings();
  WorkerEnvironment environment() const;
  std::unique_ptr<DemoWorker> start_worker();
  std::vector<SubmittedText> submit(const RoundPlan& plan, std::size_t round_index);
  void run_round(const RoundPlan& plan, std::size_t round_index);
  void disturb(const RoundPlan& plan);
  void await_finished(const std::string& name, std::int64_t total);
  std::int64_t finished_count();
  void judge_again();
  void keep_evidence(const std::string& round);

  const DemoOptions options_;
  const Corpus corpus_;
  TempDir dir_;
  PgServer postgres_;
  RedisServer redis_;
  const std::string database_;
  pgqueue::Pool pool_;
  pgqueue::Queue queue_;
  pgqueue::Connection observer_;
  std::vector<std::unique_ptr<DemoWorker>> workers_;
  int workers_started_ = 0;
  std::size_t next_text_ = 0;
  std::vector<SubmittedText> all_;
  DemoTally tally_;
};

}  // namespace han::tests
