// safety-demo: the main job on throw-away servers; see demo_run.h. Wiring only.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

#include "tests/demo/demo_run.h"
#include "tests/demo/report.h"

int main(int argc, char** argv) {
  CLI::App app{
      "Runs the engine on throw-away PostgreSQL and Redis servers: four rounds of messages, a "
      "worker that "
      "is killed, one that is stopped past its lease, Redis flushed and stopped.\n"
      "Exit 0: every task was finished exactly once, with the right verdict. Exit 1: not.\n"
      "Example: ./run demo --messages 5000 --json"};
  han::tests::DemoOptions options;
  options.source_dir = SAFETY_SOURCE_DIR;
  options.worker_binary = SAFETY_WORKER_BINARY;
  options.cache_dir = options.source_dir + "/.cache/demo";
  bool is_json = false;
  bool is_offline = false;
  app.add_option("--messages", options.messages, "messages a round")
      ->check(CLI::Range(1000, 1'000'000))
      ->capture_default_str();
  app.add_flag("--json", is_json, "end with one line of JSON");
  app.add_flag("--offline", is_offline, "use the messages of the project, fetch no mail corpus");
  app.add_option("--worker", options.worker_binary, "another safety-worker binary");
  app.add_option("--marker", options.marker, "a word that every message carries");
  app.add_option("--evidence", options.evidence_dir,
                 "write logs, metrics and a Redis dump here, and provoke errors");
  int runs = 1;
  app.add_option("--runs", runs,
                 "run it so often and print the median speed of the last round to the third")
      ->check(CLI::Range(1, 100));
  CLI11_PARSE(app, argc, argv);
  options.allows_download = !is_offline;
  options.is_quiet = is_json;
  try {
    bool is_clean = true;
    std::vector<double> ratios;
    for (int i = 0; i < runs; ++i) {
      han::tests::DemoRun run(options);
      std::printf("texts: %s\n", run.corpus_description().c_str());
      const han::tests::DemoTally tally = run.run();
      std::fputs(han::tests::table_of(tally).c_str(), stdout);
      if (is_json) std::printf("%s\n", han::tests::json_of(tally).c_str());
      is_clean = is_clean && tally.is_clean();
      ratios.push_back(tally.rounds[3].tasks_per_second() / tally.rounds[2].tasks_per_second());
    }
    std::sort(ratios.begin(), ratios.end());
    if (runs > 1) {
      std::printf("%s / %s, median of %d runs: %.2f (%.2f-%.2f)\n", "redis-stopped",
                  "redis-flushed", runs, ratios[ratios.size() / 2], ratios.front(), ratios.back());
    }
    return is_clean ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "safety-demo: %s\n", error.what());
    return 1;
  }
}
