// bench-local-policy: what the local cache may evict by, on a skewed trace with one-time scans.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cache/local_cache.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/cache_policies.h"
#include "tests/bench/report.h"

namespace han::tests {
namespace {

constexpr double kTarget = 1.0;  // hit rate against LRU, with scans

struct Options {
  std::size_t items = 100'000;
  std::size_t length = 2'000'000;
  double skew = 0.9;
  double scan_share = 0.2;
  std::size_t scan_length = 5'000;
  CommonOptions common;
};

using Trace = std::vector<std::uint64_t>;

// Keys by Zipf's law, and runs of keys that come once and never again. Seeded: always the same.
Trace make_trace(const Options& options, double scan_share, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> weights(options.items);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = 1 / std::pow(static_cast<double>(i + 1), options.skew);
  }
  std::discrete_distribution<std::uint64_t> popular(weights.begin(), weights.end());
  const auto run = static_cast<double>(options.scan_length);
  const double start = scan_share >= 1 ? 1 : scan_share / (run * (1 - scan_share));
  std::bernoulli_distribution scan_starts(start);
  std::uint64_t once = std::uint64_t{1} << 40;
  Trace trace;
  trace.reserve(options.length + options.scan_length);
  while (trace.size() < options.length) {
    trace.push_back(popular(random));
    if (scan_share <= 0 || !scan_starts(random)) continue;
    for (std::size_t i = 0; i < options.scan_length; ++i) trace.push_back(once++);
  }
  return trace;
}

// The product's cache: bytes, shards, locks, full keys and shared values.
class OurPolicy : public CachePolicy {
 public:
  explicit OurPolicy(std::size_t capacity) : cache_(capacity * kBytes) {}
  bool access(std::uint64_t key) override {
    const std::string name = std::to_string(key);
    if (cache_.get(name) != nullptr) return true;
    constexpr std::size_t kOverhead = cache::LocalCache<int>::kEntryOverheadBytes;
    cache_.put(name, value_, kBytes - kOverhead - name.size());
    return false;
  }
  std::size_t size() const override { return cache_.stats().entries; }

 private:
  static constexpr std::size_t kBytes = 1'000;
  cache::LocalCache<int> cache_;
  std::shared_ptr<const int> value_ = std::make_shared<const int>(1);
};

struct Side {
  std::string name;
  std::function<std::unique_ptr<CachePolicy>(std::size_t)> make;
};

std::vector<Side> sides() {
  return {
      {"LocalCache", [](std::size_t size) { return std::make_unique<OurPolicy>(size); }},
      {"SIEVE", [](std::size_t size) { return std::make_unique<SievePolicy>(size); }},
      {"LRU", [](std::size_t size) { return std::make_unique<LruPolicy>(size); }},
      {"S3-FIFO", [](std::size_t size) { return std::make_unique<S3FifoPolicy>(size); }},
      {"W-TinyLFU", [](std::size_t size) { return std::make_unique<TinyLfuPolicy>(size); }},
  };
}

struct Figures {
  Samples hit_percent;
  Samples ns;
};

void run_one(const Side& side, std::size_t capacity, const Trace& trace, Figures& figures) {
  const auto policy = side.make(capacity);
  std::size_t hits = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (const std::uint64_t key : trace) hits += policy->access(key) ? 1U : 0U;
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  const auto accesses = static_cast<double>(trace.size());
  figures.hit_percent.add(100 * static_cast<double>(hits) / accesses);
  figures.ns.add(took.count() / accesses);
}

void run(const Options& options) {
  const std::vector<std::pair<std::string, double>> traces = {{"zipf", 0},
                                                              {"zipf+scans", options.scan_share}};
  const std::vector<std::size_t> percents = {1, 5, 20};
  BenchResult result{
      .bench = "local-policy", .sides = {}, .ratio = 0, .target = kTarget, .ratios = {}};
  std::cout << options.items << " popular keys, skew " << options.skew << ", " << options.length
            << " accesses; scans: " << options.scan_share * 100 << " % of them in runs of "
            << options.scan_length << "; " << options.common.rounds << " rounds, medians\n\n";
  Table table({"trace", "size", "side", "hit %", "ns/access"});
  std::map<std::string, double> mixed;
  for (const auto& [trace_name, scan_share] : traces) {
    for (const std::size_t percent : percents) {
      const std::size_t capacity = options.items * percent / 100;
      std::map<std::string, Figures> figures;
      for (int round = 1; round <= options.common.rounds; ++round) {
        const Trace trace = make_trace(options, scan_share, static_cast<unsigned>(round));
        for (const Side& side : sides()) run_one(side, capacity, trace, figures[side.name]);
      }
      for (const Side& side : sides()) {
        const Figures& own = figures[side.name];
        table.add({trace_name, std::to_string(percent) + " %", side.name,
                   short_number(own.hit_percent.median()), own.ns.text()});
        result.sides[trace_name + " " + std::to_string(percent) + " % " + side.name] =
            own.hit_percent.median();
        if (scan_share > 0) mixed[side.name] += own.hit_percent.median();
      }
    }
  }
  double best = 0;
  for (const auto& [name, sum] : mixed) {
    if (name != "LocalCache") best = std::max(best, sum);
    result.ratios["LocalCache/" + name] = mixed["LocalCache"] / sum;
  }
  result.ratio = mixed["LocalCache"] / mixed["LRU"];
  std::cout << table.text() << "\nwith scans, LocalCache / LRU: " << at_least(result.ratio, kTarget)
            << "; / the best of all: " << short_number(mixed["LocalCache"] / best) << "\n";
  if (options.common.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Hit rates and costs of what the local cache may evict by: SIEVE, which it has, LRU, S3-FIFO "
      "and W-TinyLFU, on a skewed trace, alone and with one-time scans.",
      "bench-local-policy");
  app.footer("Example: bench-local-policy --rounds 3 --json");
  add_number(app, "--items", options.items, {1'000, 10'000'000}, "Popular keys");
  add_number(app, "--length", options.length, {10'000, 1'000'000'000}, "Accesses a round");
  add_number(app, "--skew", options.skew, {0.0, 2.0}, "Zipf's exponent");
  add_number(app, "--scan-share", options.scan_share, {0.0, 0.95}, "Share of one-time keys");
  add_number(app, "--scan-length", options.scan_length, {1, 1'000'000}, "Keys of one scan");
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
