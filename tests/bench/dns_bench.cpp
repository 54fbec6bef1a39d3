// bench-dns: names resolved against a name server of this machine, and the packets that it takes.
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <variant>
#include <vector>

#include "dns/resolver.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/report.h"
#include "tests/support/nsd_server.h"

namespace han::tests {
namespace {

using dns::Question;
using dns::RecordType;
using dns::Resolver;

struct Options {
  std::size_t names = 1'000;
  std::size_t callers = 8;
  CommonOptions common;
};

safety::Deadline soon() { return safety::Deadline::after(std::chrono::seconds(30)); }

NsdServer make_server(std::size_t names) {
  std::string records;
  for (std::size_t i = 0; i < names; ++i) {
    records += "n" + std::to_string(i) + " 60 IN A 192.0.2." + std::to_string(i % 256) + "\n";
  }
  return NsdServer({{"test", records}});
}

void resolve_all(Resolver& resolver, const std::vector<Question>& questions) {
  for (const auto& result : resolver.resolve(questions, soon())) {
    if (!std::holds_alternative<dns::Answer>(result)) throw std::runtime_error("no answer");
  }
}

struct Side {
  Samples ms;
  Samples packets;
};

template <typename Work>
void measure(Side& side, const NsdServer& server, const Work& work) {
  Resolver resolver({.servers = {server.address()}});
  const auto begin = std::chrono::steady_clock::now();
  work(resolver);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  side.ms.add(took.count());
  side.packets.add(static_cast<double>(resolver.stats().queries_sent));
}

void run(const Options& options) {
  const NsdServer server = make_server(options.names);
  std::vector<Question> questions;
  for (std::size_t i = 0; i < options.names; ++i) {
    questions.push_back({"n" + std::to_string(i) + ".test", RecordType::kA});
  }
  // Each name as often as there are callers, one after the other.
  std::vector<Question> repeated;
  for (const Question& question : questions) {
    repeated.insert(repeated.end(), options.callers, question);
  }
  Side single;
  Side batch;
  Side duplicates;
  Side crowd;
  for (int round = 0; round < options.common.rounds; ++round) {
    measure(single, server, [&](Resolver& resolver) {
      for (const Question& question : questions) resolve_all(resolver, {question});
    });
    measure(batch, server, [&](Resolver& resolver) { resolve_all(resolver, questions); });
    measure(duplicates, server, [&](Resolver& resolver) { resolve_all(resolver, repeated); });
    measure(crowd, server, [&](Resolver& resolver) {
      std::vector<std::jthread> callers;
      for (std::size_t i = 0; i < options.callers; ++i) {
        callers.emplace_back([&] { resolve_all(resolver, questions); });
      }
    });
  }
  std::cout << options.names << " names, NSD on 127.0.0.1, " << options.callers << " callers, "
            << options.common.rounds << " rounds, median (smallest-largest)\n\n";
  Table table({"side", "wall ms", "packets sent"});
  table.add({"one at a time", single.ms.text(), single.packets.text()});
  table.add({"one batch", batch.ms.text(), batch.packets.text()});
  table.add({"one batch, each name repeated", duplicates.ms.text(), duplicates.packets.text()});
  table.add({"the batch by each caller at once", crowd.ms.text(), crowd.packets.text()});
  const double ratio = duplicates.packets.median() / batch.packets.median();
  constexpr double kTarget = 1.0;
  std::cout << table.text() << "\npackets, repeated / distinct names: " << at_most(ratio, kTarget)
            << "\n";
  const BenchResult result{
      .bench = "dns",
      .sides = {{"one_at_a_time_ms", single.ms.median()},
                {"batch_ms", batch.ms.median()},
                {"batch_packets", batch.packets.median()},
                {"repeated_ms", duplicates.ms.median()},
                {"repeated_packets", duplicates.packets.median()},
                {"crowd_ms", crowd.ms.median()},
                {"crowd_packets", crowd.packets.median()}},
      .ratio = ratio,
      .target = kTarget,
      .ratios = {{"repeated/distinct", ratio},
                 {"one at a time/batch", single.ms.median() / batch.ms.median()}}};
  if (options.common.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app("Names resolved against a name server of this machine: time and packets.",
               "bench-dns");
  app.footer("Example: bench-dns --names 5000 --json");
  add_number(app, "--names", options.names, {1, 100'000}, "Names");
  add_number(app, "--callers", options.callers, {1, 64}, "Callers, and repetitions of each name");
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
