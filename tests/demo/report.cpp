#include "tests/demo/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cstdio>

namespace han::tests {
namespace {

std::int64_t of(const std::map<std::string, std::int64_t>& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

constexpr const char* kRowFormat =
    "{:<14} {:>8} {:>8} {:>9} | {:>7} {:>7} {:>7} {:>7} | {:>7} {:>7} {:>8} {:>8} | {:>6}\n";

}  // namespace

std::string table_of(const DemoTally& tally) {
  std::string out =
      fmt::format(kRowFormat, "round", "tasks", "seconds", "tasks/s", "allow", "monitor", "block",
                  "indet.", "local", "redis", "postgres", "computed", "leases");
  out += fmt::format(kRowFormat, "", "", "", "", "", "", "", "", "", "", "", "", "lost");
  for (const RoundTally& round : tally.rounds) {
    out += fmt::format(
        kRowFormat, round.name, round.submitted, fmt::format("{:.2f}", round.seconds),
        fmt::format("{:.0f}", round.tasks_per_second()), of(round.decisions, "allow"),
        of(round.decisions, "monitor"), of(round.decisions, "block"),
        of(round.decisions, "indeterminate"), of(round.layers, "local"), of(round.layers, "redis"),
        of(round.layers, "postgres"), of(round.layers, "computed"), round.leases_lost);
  }
  out += "\nrules that hit most:";
  for (const auto& [rule, count] : tally.top_rules) out += fmt::format(" {} ({})", rule, count);
  out += fmt::format(
      "\n\nsubmitted {}  finished {}  lost {}  finished twice {}  mismatched {}  stale completions "
      "refused {}\n",
      tally.submitted, tally.finished, tally.lost, tally.finished_twice, tally.mismatched,
      tally.stale_completions);
  out += tally.is_clean() ? "Every task was finished exactly once, with the verdict that it gets "
                            "without any cache.\n"
                          : "NOT CLEAN: see lost, finished twice and mismatched.\n";
  return out;
}

std::string json_of(const DemoTally& tally) {
  nlohmann::ordered_json json;
  json["submitted"] = tally.submitted;
  json["finished"] = tally.finished;
  json["lost"] = tally.lost;
  json["finished_twice"] = tally.finished_twice;
  json["mismatched"] = tally.mismatched;
  json["rounds"] = nlohmann::ordered_json::array();
  for (const RoundTally& round : tally.rounds) {
    nlohmann::ordered_json one;
    one["name"] = round.name;
    one["submitted"] = round.submitted;
    one["seconds"] = round.seconds;
    one["tasks_per_s"] = round.tasks_per_second();
    one["decisions"] = round.decisions;
    for (const char* layer : {"local", "redis", "postgres", "computed"}) {
      one["layers"][layer] = of(round.layers, layer);
    }
    json["rounds"].push_back(std::move(one));
  }
  return json.dump();
}

ProgressBar::ProgressBar(std::string name)
    : name_(std::move(name)), is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressBar::show(std::int64_t finished, std::int64_t total) {
  if (!is_terminal_ || total <= 0) return;
  constexpr std::int64_t kWidth = 40;
  const auto filled = static_cast<std::size_t>(finished * kWidth / total);
  const std::string line =
      fmt::format("\r{:<14} [{:<40}] {}/{}", name_, std::string(filled, '#'), finished, total);
  std::fputs(line.c_str(), stderr);
}

void ProgressBar::done() {
  if (is_terminal_) std::fputs("\r\033[K", stderr);
}

}  // namespace han::tests
