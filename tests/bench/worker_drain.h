// Worker drain: a whole worker, in this process, that empties a queue of texts which it has never
// seen: cold caches. Rules and texts are made so that judging one takes as long as is asked for.
//
// Threads: one thread at a time.
// Owns:    the files that the worker reads; the servers are the caller's.
// Blocks:  run() until the last task is finished, at most 5 minutes.
// Fails:   std::runtime_error, safety::ConfigError, pgqueue::Error.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "safety/text/text_engine.h"
#include "tests/bench/bench_server.h"
#include "tests/support/temp_dir.h"

namespace han::tests {

struct WorkerLoad {
  std::size_t tasks = 40'000;
  int threads = 2;
  std::size_t text_bytes = 1'900;
  std::size_t rules = 200;
  int redis_timeout_ms = 50;
};

struct WorkerDrain {
  double tasks_per_s = 0;
  // Between two commits that follow each other, of the whole run.
  double longest_stall_s = 0;
  // Tasks whose end is not the verdict of an offline engine.
  std::size_t failed = 0;
  // Where verdicts came from: "computed 20000".
  std::string layers;
};

class WorkerBench {
 public:
  explicit WorkerBench(WorkerLoad load);

  // What judging one text takes with nothing else, in microseconds.
  double text_us();
  // `redis_url` empty: none. `at_half` is called once when half of the tasks are finished.
  WorkerDrain run(BenchServer& server, const std::string& redis_url,
                  const std::function<void()>& at_half = nullptr);

 private:
  std::string text(std::size_t number) const;
  void submit(const std::string& conninfo);
  void await_finished(const std::string& conninfo, std::size_t tasks);
  WorkerDrain figures(const std::string& conninfo);

  const WorkerLoad load_;
  TempDir dir_;
  std::string filler_;
  std::shared_ptr<const safety::TextEngine> engine_;
};

}  // namespace han::tests
