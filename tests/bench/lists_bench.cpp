// bench-lists: a million hosts in the lists: how long they take to load, what they cost in memory
// against a map of strings, how long a link takes to be looked up, and what the index for the names
// of CNAME chains costs.
#include <malloc.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "safety/bundle.h"
#include "safety/link/list_chain_index.h"
#include "safety/link/policy_key.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/report.h"
#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

// Of our own: there is none in SPEC section 13.
constexpr double kMemoryTarget = 0.5;
constexpr std::chrono::sys_days kDay{std::chrono::days(20'000)};

struct Options {
  std::size_t entries = 1'000'000;
  std::size_t lookups = 200'000;
  CommonOptions common;
};

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double heap_bytes() {
  const auto info = ::mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

// Hosts as feeds have them: some words, two to four labels.
std::vector<std::string> make_hosts(std::size_t count) {
  std::mt19937_64 random(7);
  const auto label = [&](std::size_t least) {
    std::string out(least + random() % 12, 'a');
    for (char& c : out) c = static_cast<char>('a' + random() % 26);
    return out;
  };
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < count; ++i) {
    std::string host = label(4);
    for (std::size_t extra = random() % 3; extra > 0; --extra) host = label(2) + "." + host;
    hosts.push_back(host + (random() % 2 == 0 ? ".com" : ".example"));
  }
  return hosts;
}

double lookup_ns(const safety::LinkLists& lists, const std::vector<safety::PolicyKey>& keys,
                 std::size_t wanted_hits) {
  std::size_t hits = 0;
  const auto begin = Clock::now();
  for (const safety::PolicyKey& key : keys) {
    const safety::KeyExpressions expressions = key.expressions();
    hits += lists.match({key.host(), {expressions.begin(), expressions.end()}, std::nullopt})
                .hits.size();
  }
  const double ns = ms_since(begin) * 1e6 / static_cast<double>(keys.size());
  if (hits < wanted_hits) throw std::runtime_error("a listed host was not found");
  return ns;
}

void run(const Options& options) {
  const std::vector<std::string> hosts = make_hosts(options.entries);
  const TempDir dir;
  std::ofstream(dir.file("rules.yaml")) << "schema: 1\nrules: []\n";
  std::ofstream(dir.file("lists.yaml"))
      << "schema: 1\nlists:\n"
         "- {id: l, file: l.txt, kind: suffix, action: block, severity: 9, mode: enforce}\n";
  {
    std::ofstream file(dir.file("l.txt"));
    for (const std::string& host : hosts) file << host << '\n';
  }
  std::vector<safety::PolicyKey> listed;
  std::vector<safety::PolicyKey> others;
  for (std::size_t i = 0; i < options.lookups; ++i) {
    listed.push_back(*safety::policy_key("http://www." + hosts[i % hosts.size()] + "/a/b?c"));
    others.push_back(*safety::policy_key("http://www.x-" + hosts[i % hosts.size()] + "/a/b?c"));
  }
  Samples load_ms, entry_bytes, hit_ns, miss_ns, index_ms, index2_ms, map_bytes;
  std::size_t entries = 0;
  for (int round = 1; round <= options.common.rounds; ++round) {
    const auto begin = Clock::now();
    const auto bundle = safety::Bundle::load(dir.path().string(), kDay);
    load_ms.add(ms_since(begin));
    const safety::LinkLists& lists = bundle->lists();
    entries = lists.table().size();
    entry_bytes.add(static_cast<double>(lists.table().bytes()) / static_cast<double>(entries));
    hit_ns.add(lookup_ns(lists, listed, listed.size()));
    miss_ns.add(lookup_ns(lists, others, 0));
    const std::string pepper(32, 'p');
    const safety::HmacKey key(safety::as_bytes(pepper));
    for (const std::size_t threads : {1U, 2U}) {
      const auto start = Clock::now();
      const safety::ListChainIndex index(lists, key, threads);
      (threads == 1 ? index_ms : index2_ms).add(ms_since(start));
    }
    const double before = heap_bytes();
    std::unordered_map<std::string, std::uint32_t> map;
    for (const std::string& host : hosts) map.emplace(host, 0);
    map_bytes.add((heap_bytes() - before) / static_cast<double>(map.size()));
  }
  const double ratio = entry_bytes.median() / map_bytes.median();
  std::cout << entries << " hosts, " << options.common.rounds
            << " rounds, median (smallest-largest)\n\n";
  Table table({"figure", "value"});
  table.add({"load, ms", load_ms.text()});
  table.add({"bytes an entry", entry_bytes.text()});
  table.add({"bytes an entry of a map of strings", map_bytes.text()});
  table.add({"look-up of a link below a listed host, ns", hit_ns.text()});
  table.add({"look-up of another link, ns", miss_ns.text()});
  table.add({"index of chains, 1 thread, ms", index_ms.text()});
  table.add({"index of chains, 2 threads, ms", index2_ms.text()});
  std::cout << table.text() << "\nbytes / map of strings: " << at_most(ratio, kMemoryTarget)
            << "\n";
  const BenchResult result{.bench = "lists",
                           .sides = {{"load_ms", load_ms.median()},
                                     {"entry_bytes", entry_bytes.median()},
                                     {"map_entry_bytes", map_bytes.median()},
                                     {"hit_ns", hit_ns.median()},
                                     {"miss_ns", miss_ns.median()},
                                     {"chain_index_ms", index_ms.median()},
                                     {"chain_index_2_threads_ms", index2_ms.median()}},
                           .ratio = ratio,
                           .target = kMemoryTarget,
                           .ratios = {{"bytes/map", ratio}}};
  if (options.common.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app("A million hosts in the lists: loading, memory, look-ups, the index of chains.",
               "bench-lists");
  app.footer("Example: bench-lists --entries 100000 --json");
  add_number(app, "--entries", options.entries, {1000, 10'000'000}, "Hosts in the list");
  add_number(app, "--lookups", options.lookups, {1000, 1'000'000}, "Links asked about a round");
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
