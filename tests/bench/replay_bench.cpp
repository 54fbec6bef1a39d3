// bench-replay: rebuilding Redis from verdict rows, checked and with the time that each has left,
// against redis-benchmark's pipelined SET with a TTL, of the same key and value sizes.
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>

#include "cache/key.h"
#include "pgqueue/connection.h"
#include "safety/replay/rebuild.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/bench_server.h"
#include "tests/bench/report.h"
#include "tests/safety/replay/verdict_load.h"
#include "tests/support/process.h"
#include "tests/support/redis_server.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

constexpr double kTarget = 0.3;  // SPEC section 13, P11

struct Options {
  std::size_t verdicts = 300'000;
  CommonOptions common;
};

safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(30)); }

std::unique_ptr<cache::Connection> connect(const RedisServer& server) {
  auto opened = cache::Connection::open(cache::RedisUrl::parse(server.unix_url()), {}, soon());
  if (!opened.connection) throw std::runtime_error("redis-server cannot be used");
  return std::move(opened.connection);
}

// Verdicts a second, into an empty server.
double rebuild_per_s(const std::string& conninfo, const RedisServer& server,
                     const safety::PepperSet& peppers, std::size_t verdicts) {
  server.ask({"FLUSHALL"});
  pgqueue::Connection database(conninfo, soon());
  const auto redis = connect(server);
  const safety::RowJudge judge(safety::EntryReader(&peppers), {});
  safety::Rebuild rebuild(database, *redis, judge, {.rows_per_second = 0}, {});
  const auto begin = std::chrono::steady_clock::now();
  const auto end = rebuild.run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const bool is_whole = end.reason == safety::RebuildEnd::Reason::kDone &&
                        rebuild.total().written == verdicts &&
                        server.ask({"DBSIZE"}) == std::to_string(verdicts);
  if (!is_whole) throw std::runtime_error("the rebuild did not write every verdict");
  return static_cast<double>(verdicts) / took.count();
}

// redis-benchmark -c 1 -P 100 SET key value EX ttl: requests a second, into an empty server.
double peer_per_s(const RedisServer& server, std::size_t value_bytes, std::size_t requests) {
  server.ask({"FLUSHALL"});
  // It puts 12 random digits in the place of the word.
  const std::string key =
      "han:safety:text:" + std::string(52, '0') + "__rand_int__:" + std::string(32, 'a');
  const TempDir dir;
  const auto url = cache::RedisUrl::parse(server.unix_url());
  Process process({.argv = {"redis-benchmark",
                            "-s",
                            server.socket_path(),
                            "--user",
                            url.user,
                            "-a",
                            url.password,
                            "-c",
                            "1",
                            "-P",
                            "100",
                            "-n",
                            std::to_string(requests),
                            "-r",
                            "2000000000",
                            "--csv",
                            "SET",
                            key,
                            std::string(value_bytes, 'v'),
                            "EX",
                            "172740"},
                   .output_path = dir.file("output")});
  if (!process.wait(safety::Deadline::after(std::chrono::minutes(5)))) {
    throw std::runtime_error("redis-benchmark does not end");
  }
  // The last line: "SET han:...","401606.44","0.244",...
  const std::string output = process.output();
  const auto line = output.rfind("\"SET ");
  const auto comma = line == std::string::npos ? line : output.find("\",\"", line);
  if (comma == std::string::npos) throw std::runtime_error("redis-benchmark gave no figure");
  if (std::stoul(server.ask({"DBSIZE"})) < requests / 2) {
    throw std::runtime_error("redis-benchmark did not write");
  }
  return std::stod(output.substr(comma + 3));
}

void run(const Options& options) {
  const safety::PepperSet peppers = safety::parse_peppers("p1 " + std::string(64, '1') + "\n");
  BenchServer server;
  const RedisServer redis;
  const std::string conninfo = server.make_database();
  load_text_verdicts(conninfo, peppers, 0, options.verdicts);
  pg_execute(conninfo, "VACUUM ANALYZE message_safety.verdicts");
  const std::size_t bytes = text_verdict_bytes(peppers);
  Samples ours;
  Samples theirs;
  for (int round = 1; round <= options.common.rounds; ++round) {
    theirs.add(peer_per_s(redis, bytes, options.verdicts));
    ours.add(rebuild_per_s(conninfo, redis, peppers, options.verdicts));
    std::cerr << "round " << round << " of " << options.common.rounds << "\n";
  }
  const double ratio = ours.median() / theirs.median();
  std::cout << server.settings() << "\n"
            << options.verdicts << " verdicts of " << bytes
            << " bytes, proofs checked, unix sockets, " << options.common.rounds
            << " rounds, median (smallest-largest)\n\n";
  Table table({"side", "keys/s"});
  table.add({"replay rebuild", ours.text()});
  table.add({"redis-benchmark SET EX", theirs.text()});
  std::cout << table.text() << "\nrebuild / redis-benchmark: " << at_least(ratio, kTarget) << "\n";
  const BenchResult result{
      .bench = "replay",
      .sides = {{"rebuild", ours.median()}, {"redis-benchmark", theirs.median()}},
      .ratio = ratio,
      .target = kTarget,
      .ratios = {{"rebuild/redis-benchmark", ratio}}};
  if (options.common.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Rebuilding Redis from verdict rows, against redis-benchmark -c 1 -P 100 SET EX of the same "
      "sizes; on throw-away servers.",
      "bench-replay");
  app.footer("Example: bench-replay --verdicts 100000 --json");
  add_number(app, "--verdicts", options.verdicts, {1'000, 10'000'000}, "Verdict rows");
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
