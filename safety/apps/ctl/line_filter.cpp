#include "safety/apps/ctl/line_filter.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

#include "safety/apps/ctl/progress.h"
#include "safety/config.h"

namespace han::safety {
namespace {

constexpr std::size_t kLineBytesMax = std::size_t{8} << 20;
// A text of kTextBytesMax bytes needs at most six times as much when each byte is escaped.
static_assert(kLineBytesMax > 6 * kTextBytesMax + 1024);

struct FilterOptions {
  std::optional<std::string> operand;
  std::optional<std::string> file;
  bool json = true;  // --json, which every command takes, says nothing new to a filter
};

ExitCode run_filter(const Filter& filter, const FilterOptions& options) {
  Input input = Input::open(path_of_lines(options.operand, options.file, "a filter reads"));
  const auto answer = [&filter](LineReader::Next kind, std::string_view line, std::uint64_t number,
                                bool& is_bad) {
    if (kind == LineReader::Next::kLine) {
      if (auto json = filter.answer(line)) return *std::move(json);
    }
    is_bad = true;
    Json json;
    if (filter.field == InputField::kShown) json["input"] = nullptr;
    json["error"] = std::string("line ")
                        .append(std::to_string(number))
                        .append(" is not ")
                        .append(filter.expected);
    return json;
  };
  return answer_lines(input, {"reading", "read"}, answer);
}

}  // namespace

std::string path_of_lines(const std::optional<std::string>& operand,
                          const std::optional<std::string>& file, std::string_view what) {
  if (!operand) return file.value_or("-");
  if (file || *operand != "-") {
    throw Failure(ExitCode::kUsage, std::string(what).append(" the lines of one input"),
                  "give - or nothing for standard input, or --file PATH");
  }
  return "-";
}

ExitCode answer_lines(Input& input, const LineRun& run, const LineAnswer& answer) {
  LineReader reader(input, kLineBytesMax);
  Progress progress(std::cerr, run.doing, input.size(), Progress::on_terminal());
  std::uint64_t bad_lines = 0;
  std::string_view line;
  while (true) {
    if (reader.may_block()) flush_output(std::cout);
    const LineReader::Next kind = reader.next(line);
    if (kind == LineReader::Next::kEnd) break;
    bool is_bad = false;
    std::cout << to_line(answer(kind, line, reader.line_number(), is_bad)) << '\n';
    if (is_bad) ++bad_lines;
    progress.update(reader.bytes_read(), reader.line_number());
  }
  progress.clear();
  flush_output(std::cout);
  if (bad_lines == 0) return ExitCode::kOk;
  throw Failure(ExitCode::kFailure,
                std::to_string(bad_lines).append(" lines were not ").append(run.done),
                "their places in the output hold an error each");
}

void add_filter(CLI::App& app, Command& command, const Filter& filter) {
  CLI::App& leaf = add_leaf(app, filter.name, filter.description, filter.example);
  const auto options = std::make_shared<FilterOptions>();
  add_operand(leaf, "INPUT", options->operand, "Only -, standard input, which is the default");
  add_string(leaf, "--file", options->file, "Read the lines of this file");
  add_flag(leaf, "--json", options->json, "Print JSON lines, as without it");
  set_run(leaf, command, [filter, options] { return run_filter(filter, *options); });
}

}  // namespace han::safety
