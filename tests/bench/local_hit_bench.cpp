// bench-local-hit: a hit in the local cache, from the text's bytes to the value, against the HMAC
// of the same bytes alone.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <latch>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cache/key.h"
#include "cache/local_cache.h"
#include "safety/base/digest.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/report.h"

namespace han::tests {
namespace {

// SPEC section 13, P6.
constexpr double kHitTarget = 2.5;
constexpr double kThreadsTarget = 1.7;

constexpr std::string_view kLabel = "text";
constexpr std::string_view kVersion = "0123456789abcdef0123456789abcdef";
// Operations between two looks at the clock, which costs as much as a part of one.
constexpr std::size_t kBlock = 16;

struct Options {
  std::size_t texts = 10'000;
  std::size_t text_bytes = 200;
  std::size_t hits = 400'000;
  CommonOptions common;
};

// What the caches keep for a text, by size.
struct Value {
  std::string bytes = std::string(400, 'x');
};

class Load {
 public:
  explicit Load(const Options& options) : options_(options), key_(safety::as_bytes(kSecret)) {
    std::mt19937_64 random(1);
    std::uniform_int_distribution<int> letter('a', 'z');
    for (std::size_t i = 0; i < options.texts; ++i) {
      std::string text(options.text_bytes, ' ');
      for (char& c : text) c = static_cast<char>(letter(random));
      cache_.put(key_of(text).str(), std::make_shared<const Value>(), sizeof(Value) + 400);
      texts_.push_back(std::move(text));
    }
  }

  void hit(std::size_t i) {
    const auto found = cache_.get(key_of(texts_[i % texts_.size()]).str());
    if (found == nullptr) throw std::runtime_error("a miss: the cache is too small, or too slow");
  }

  void mac(std::size_t i) {
    const auto digest = key_.mac(kLabel, texts_[i % texts_.size()]);
    sink_ = digest[0];
  }

 private:
  static constexpr std::string_view kSecret = "a pepper of thirty-two bytes 123";

  cache::TextKey key_of(const std::string& text) const {
    return {key_.mac(kLabel, text), kVersion};
  }

  const Options& options_;
  safety::HmacKey key_;
  std::vector<std::string> texts_;
  cache::LocalCache<Value> cache_{std::size_t{1} << 30};
  volatile std::uint8_t sink_ = 0;
};

// The median time of one operation.
template <typename Operation>
double p50_ns(std::size_t count, const Operation& operation) {
  Samples samples;
  for (std::size_t done = 0; done < count; done += kBlock) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < kBlock; ++i) operation(done + i);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    samples.add(took.count() / kBlock);
  }
  return samples.median();
}

double hits_per_s(Load& load, const Options& options, std::size_t threads) {
  std::latch ready(static_cast<std::ptrdiff_t>(threads) + 1);
  std::vector<std::jthread> running;
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      ready.arrive_and_wait();
      const std::size_t from = t * options.texts / threads;
      for (std::size_t i = 0; i < options.hits; ++i) load.hit(from + i);
    });
  }
  ready.arrive_and_wait();
  const auto begin = std::chrono::steady_clock::now();
  running.clear();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(threads * options.hits) / took.count();
}

void run(const Options& options) {
  Load load(options);
  Samples hit_ns;
  Samples mac_ns;
  Samples one;
  Samples two;
  Samples hit_ratio;
  Samples threads_ratio;
  for (int round = 1; round <= options.common.rounds; ++round) {
    mac_ns.add(p50_ns(options.hits, [&](std::size_t i) { load.mac(i); }));
    hit_ns.add(p50_ns(options.hits, [&](std::size_t i) { load.hit(i); }));
    one.add(hits_per_s(load, options, 1));
    two.add(hits_per_s(load, options, 2));
  }
  const double hit = hit_ns.median() / mac_ns.median();
  const double threads = two.median() / one.median();
  std::cout << options.texts << " texts of " << options.text_bytes << " bytes, "
            << options.common.rounds << " rounds, median (smallest-largest)\n\n";
  Table table({"side", "p50 ns", "hits/s"});
  table.add({"HMAC-SHA-256 alone", mac_ns.text(), "-"});
  table.add({"hit, one thread", hit_ns.text(), one.text()});
  table.add({"hit, two threads", "-", two.text()});
  std::cout << table.text() << "\nhit / HMAC alone: " << at_most(hit, kHitTarget)
            << "\n2 threads / 1: " << at_least(threads, kThreadsTarget) << "\n";
  const BenchResult result{.bench = "local-hit",
                           .sides = {{"hmac_ns", mac_ns.median()},
                                     {"hit_ns", hit_ns.median()},
                                     {"hits_per_s_1", one.median()},
                                     {"hits_per_s_2", two.median()}},
                           .ratio = hit,
                           .target = kHitTarget,
                           .ratios = {{"hit/hmac", hit}, {"2 threads/1", threads}}};
  if (options.common.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app(
      "A hit in the local cache, hash of the text included, against HMAC-SHA-256 of the same bytes "
      "alone; and two threads against one.",
      "bench-local-hit");
  app.footer("Example: bench-local-hit --text-bytes 1000 --json");
  add_number(app, "--texts", options.texts, {1, 500'000}, "Texts in the cache");
  add_number(app, "--text-bytes", options.text_bytes, {1, 65'536}, "Bytes of a text");
  add_number(app, "--hits", options.hits, {1'000, 100'000'000}, "Hits a round and thread");
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
