#include "safety/apps/ctl/line_filter.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <iostream>

#include "safety/apps/ctl/input.h"
#include "safety/apps/ctl/progress.h"

namespace han::safety {
namespace {

constexpr std::size_t kLineBytesMax = std::size_t{8} << 20;

std::string path_of(const FilterOptions& options) {
  if (!options.operand) return options.file.value_or("-");
  if (options.file || *options.operand != "-") {
    throw Failure(ExitCode::kUsage, "a filter reads the lines of one input",
                  "give - or nothing for standard input, or --file PATH");
  }
  return "-";
}

}  // namespace

void add_filter_source(CLI::App& app, FilterOptions& options) {
  add_operand(app, "INPUT", options.operand, "Only -, standard input, which is the default");
  add_string(app, "--file", options.file, "Read the lines of this file");
  add_flag(app, "--json", options.json, "Print JSON lines, as without it");
}

ExitCode run_filter(const FilterOptions& options, InputField field, std::string_view expected,
                    const LineAnswer& answer) {
  Input input = Input::open(path_of(options));
  LineReader reader(input, kLineBytesMax);
  Progress progress(std::cerr, "reading", input.size(), Progress::on_terminal());
  std::uint64_t bad_lines = 0;
  std::string_view line;
  while (true) {
    if (reader.may_block()) flush_output(std::cout);
    const LineReader::Next kind = reader.next(line);
    if (kind == LineReader::Next::kEnd) break;
    std::optional<Json> json;
    if (kind == LineReader::Next::kLine) json = answer(line);
    if (!json) {
      ++bad_lines;
      const std::string number = std::to_string(reader.line_number());
      json.emplace();
      if (field == InputField::kShown) (*json)["input"] = nullptr;
      (*json)["error"] = std::string("line ").append(number).append(" is not ").append(expected);
    }
    std::cout << to_line(*json) << '\n';
    progress.update(reader.bytes_read(), reader.line_number());
  }
  progress.clear();
  flush_output(std::cout);
  if (bad_lines == 0) return ExitCode::kOk;
  throw Failure(ExitCode::kFailure, std::to_string(bad_lines) + " lines were not read",
                "their places in the output hold an error each");
}

}  // namespace han::safety
