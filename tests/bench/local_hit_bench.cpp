// bench-local-hit: a hit in the local cache, from the text's bytes to the value, against the HMAC
// of the same bytes alone.
#include <time.h>

#include <algorithm>
#include <atomic>
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
constexpr std::size_t kTurns = 20;

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

  void mac(std::size_t i) const {
    const auto digest = key_.mac(kLabel, texts_[i % texts_.size()]);
    // So that the compiler does not leave it out.
    if (digest == safety::Digest{}) throw std::runtime_error("a digest of zeros");
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

// CPU time of the calling thread in nanoseconds.
double thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct Pace {
  double per_s;
  double cpu_ns;  // of one operation
};

// So many threads at once.
template <typename Operation>
Pace pace_of(const Options& options, std::size_t threads, const Operation& operation) {
  std::latch ready(static_cast<std::ptrdiff_t>(threads) + 1);
  const std::size_t count = options.hits / kTurns;
  std::atomic<double> cpu_ns{0};
  std::vector<std::jthread> running;
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      ready.arrive_and_wait();
      const std::size_t from = t * options.texts / threads;
      const double begin = thread_cpu_ns();
      for (std::size_t i = 0; i < count; ++i) operation(from + i);
      cpu_ns += thread_cpu_ns() - begin;
    });
  }
  ready.arrive_and_wait();
  const auto begin = std::chrono::steady_clock::now();
  running.clear();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const auto operations = static_cast<double>(threads * count);
  return {operations / took.count(), cpu_ns / operations};
}

struct Side {
  Samples ns;
  Samples one;
  Samples two;
  Samples one_cpu_ns;
  Samples two_cpu_ns;

  // One round, in short turns, so that a change of the machine's speed meets all sides.
  template <typename Operation>
  static void measure(const Options& options, Side& turns, const Operation& operation) {
    turns.ns.add(p50_ns(options.hits / kTurns, operation));
    const Pace one = pace_of(options, 1, operation);
    const Pace two = pace_of(options, 2, operation);
    turns.one.add(one.per_s);
    turns.two.add(two.per_s);
    turns.one_cpu_ns.add(one.cpu_ns);
    turns.two_cpu_ns.add(two.cpu_ns);
  }
  void add(const Side& turns) {
    ns.add(turns.ns.median());
    one.add(turns.one.median());
    two.add(turns.two.median());
    one_cpu_ns.add(turns.one_cpu_ns.median());
    two_cpu_ns.add(turns.two_cpu_ns.median());
  }
  double gain() const { return two.median() / one.median(); }
  // What it would be on cores that nobody else uses: what the threads cost each other.
  double cpu_gain() const { return 2 * one_cpu_ns.median() / two_cpu_ns.median(); }
};

void run(const Options& options) {
  Load load(options);
  Side hit;
  Side mac;
  for (int round = 1; round <= options.common.rounds; ++round) {
    Side hit_turns;
    Side mac_turns;
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      Side::measure(options, mac_turns, [&](std::size_t i) { load.mac(i); });
      Side::measure(options, hit_turns, [&](std::size_t i) { load.hit(i); });
    }
    hit.add(hit_turns);
    mac.add(mac_turns);
  }
  const double ratio = hit.ns.median() / mac.ns.median();
  std::cout << options.texts << " texts of " << options.text_bytes << " bytes, "
            << options.common.rounds << " rounds, median (smallest-largest)\n\n";
  Table table({"side", "p50 ns", "1 thread /s", "2 threads /s", "2 / 1", "by CPU time"});
  const auto add = [&](const std::string& name, const Side& side) {
    table.add({name, side.ns.text(), side.one.text(), side.two.text(), short_number(side.gain()),
               short_number(side.cpu_gain())});
  };
  add("HMAC-SHA-256 alone", mac);
  add("hit", hit);
  std::cout << table.text() << "\nhit / HMAC alone: " << at_most(ratio, kHitTarget)
            << "\n2 threads / 1: " << at_least(hit.gain(), kThreadsTarget) << "\n";
  const BenchResult result{.bench = "local-hit",
                           .sides = {{"hmac_ns", mac.ns.median()},
                                     {"hit_ns", hit.ns.median()},
                                     {"hits_per_s_1", hit.one.median()},
                                     {"hits_per_s_2", hit.two.median()}},
                           .ratio = ratio,
                           .target = kHitTarget,
                           .ratios = {{"hit/hmac", ratio},
                                      {"2 threads/1", hit.gain()},
                                      {"2 threads/1 by CPU time", hit.cpu_gain()},
                                      {"2 threads/1 of HMAC alone", mac.gain()}}};
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
  add_number(app, "--hits", options.hits, {10'000, 100'000'000}, "Hits a round and thread");
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
