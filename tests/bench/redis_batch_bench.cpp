// bench-redis-batch: batches of a hundred keys by the hot cache, decoding included, against
// redis-benchmark's pipelined GET of the same key and value sizes.
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/bench_main.h"
#include "tests/bench/redis_side.h"
#include "tests/bench/report.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

constexpr double kTarget = 0.8;  // SPEC section 13, P5
// Short, in turns, so that a change of the machine's speed meets both sides.
constexpr std::size_t kTurns = 5;

struct Options {
  std::size_t batch = 100;
  std::size_t keys = 1'000'000;
  CommonOptions common;
};

double our_keys_per_s(RedisSide& side, const Options& options) {
  const std::size_t keys = options.keys / kTurns;
  const std::span<const cache::TextKey> all(side.keys());
  std::size_t done = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (done < keys) {
    const auto batch = all.subspan(done % (all.size() - options.batch), options.batch);
    const auto deadline = safety::Deadline::after(std::chrono::seconds(1));
    for (const auto& lookup : side.hot().get_texts(batch, side.pepper_ids(), deadline)) {
      if (!lookup.entry) throw std::runtime_error("a miss");
    }
    done += options.batch;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(done) / took.count();
}

// redis-benchmark -c 1 -P batch -n keys -r all GET key: requests a second.
double peer_keys_per_s(const RedisSide& side, const std::string& key, const Options& options) {
  const TempDir dir;
  const auto url = cache::RedisUrl::parse(side.server().unix_url());
  Process process(
      {.argv = {"redis-benchmark", "-s", side.server().socket_path(), "--user", url.user, "-a",
                url.password, "-c", "1", "-P", std::to_string(options.batch), "-n",
                std::to_string(options.keys / kTurns), "-r", std::to_string(side.keys().size()),
                "--csv", "GET", key},
       .output_path = dir.file("output")});
  if (!process.wait(safety::Deadline::after(std::chrono::minutes(5)))) {
    throw std::runtime_error("redis-benchmark does not end");
  }
  // The last line: "GET han:...","401606.44","0.244",...
  const std::string output = process.output();
  const auto line = output.rfind("\"GET ");
  const auto comma = line == std::string::npos ? line : output.find("\",\"", line);
  if (comma == std::string::npos) throw std::runtime_error("redis-benchmark: " + output);
  return std::stod(output.substr(comma + 3));
}

void run(const Options& options) {
  RedisSide side(options.batch * 10);
  const std::string plain_key = side.make_plain_keys();
  Samples ours;
  Samples theirs;
  for (int round = 1; round <= options.common.rounds; ++round) {
    Samples our_turns;
    Samples their_turns;
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      their_turns.add(peer_keys_per_s(side, plain_key, options));
      our_turns.add(our_keys_per_s(side, options));
    }
    ours.add(our_turns.median());
    theirs.add(their_turns.median());
  }
  const double ratio = ours.median() / theirs.median();
  std::cout << "batches of " << options.batch << ", values of " << side.value_bytes()
            << " bytes, unix socket, " << options.common.rounds << " rounds of " << options.keys
            << " keys, median (smallest-largest)\n\n";
  Table table({"side", "keys/s"});
  table.add({"hot cache, decoded", ours.text()});
  table.add({"redis-benchmark GET", theirs.text()});
  std::cout << table.text() << "\nhot cache / redis-benchmark: " << at_least(ratio, kTarget)
            << "\n";
  const BenchResult result{
      .bench = "redis-batch",
      .sides = {{"hot_cache", ours.median()}, {"redis-benchmark", theirs.median()}},
      .ratio = ratio,
      .target = kTarget,
      .ratios = {{"hot cache/redis-benchmark", ratio}}};
  if (options.common.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Batches of keys by the hot cache, decoded, against redis-benchmark -c 1 -P of the same "
      "size.",
      "bench-redis-batch");
  app.footer("Example: bench-redis-batch --keys 100000 --json");
  add_number(app, "--batch", options.batch, {1, 1'000}, "Keys a batch");
  add_number(app, "--keys", options.keys, {10'000, 100'000'000}, "Keys a round");
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
