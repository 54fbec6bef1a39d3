// bench-redis-hit: one hit of the hot cache, decoding included, against a plain GET by hiredis.
#include <chrono>
#include <iostream>
#include <stdexcept>

#include "tests/bench/bench_main.h"
#include "tests/bench/redis_side.h"
#include "tests/bench/report.h"

namespace han::tests {
namespace {

constexpr double kTarget = 1.25;  // SPEC section 13, P5

struct Options {
  std::size_t hits = 20'000;
  CommonOptions common;
};

// The median time of one operation in microseconds.
template <typename Operation>
double p50_us(std::size_t count, const Operation& operation) {
  Samples samples;
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    operation(i);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    samples.add(took.count());
  }
  return samples.median();
}

void run(const Options& options) {
  constexpr std::size_t kKeys = 1'000;
  RedisSide side(kKeys);
  PlainRedis plain(side.server());
  const auto hit = [&](std::size_t i) {
    const auto deadline = safety::Deadline::after(std::chrono::seconds(1));
    const auto lookups =
        side.hot().get_texts({&side.keys()[i % kKeys], 1}, side.pepper_ids(), deadline);
    if (!lookups[0].entry) throw std::runtime_error("a miss");
  };
  const auto get = [&](std::size_t i) {
    if (plain.get(side.keys()[i % kKeys].str()) != side.value_bytes()) {
      throw std::runtime_error("another value");
    }
  };
  Samples ours;
  Samples theirs;
  // In short turns, so that a change of the machine's speed meets both.
  constexpr std::size_t kTurns = 10;
  for (int round = 1; round <= options.common.rounds; ++round) {
    Samples our_turns;
    Samples their_turns;
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      their_turns.add(p50_us(options.hits / kTurns, get));
      our_turns.add(p50_us(options.hits / kTurns, hit));
    }
    ours.add(our_turns.median());
    theirs.add(their_turns.median());
  }
  const double ratio = ours.median() / theirs.median();
  std::cout << "values of " << side.value_bytes() << " bytes, unix socket, "
            << options.common.rounds << " rounds of " << options.hits
            << ", median (smallest-largest)\n\n";
  Table table({"side", "p50 us"});
  table.add({"hot cache hit", ours.text()});
  table.add({"hiredis GET", theirs.text()});
  std::cout << table.text() << "\nhit / GET: " << at_most(ratio, kTarget) << "\n";
  const BenchResult result{.bench = "redis-hit",
                           .sides = {{"hit_us", ours.median()}, {"get_us", theirs.median()}},
                           .ratio = ratio,
                           .target = kTarget,
                           .ratios = {{"hit/get", ratio}}};
  if (options.common.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app("One hit of the hot cache, decoded, against a plain GET of the same key by hiredis.",
               "bench-redis-hit");
  app.footer("Example: bench-redis-hit --hits 50000 --json");
  add_number(app, "--hits", options.hits, {1'000, 100'000'000}, "Hits a round");
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
