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

// Answers line by line.
class FilterAnswers final : public LineAnswers {
 public:
  explicit FilterAnswers(const Filter& filter) : filter_(filter) {}

  void take(LineReader::Next kind, std::string_view line, std::uint64_t number) override {
    if (kind == LineReader::Next::kLine) {
      if ((answer_ = filter_.answer(line))) return;
    }
    bad_.emplace();
    if (filter_.field == InputField::kShown) (*bad_)["input"] = nullptr;
    (*bad_)["error"] = std::string("line ")
                           .append(std::to_string(number))
                           .append(" is not ")
                           .append(filter_.expected);
  }
  bool has_room() const override { return !answer_ && !bad_; }
  void answer(const Print& print) override {
    if (answer_) print(*answer_, false);
    if (bad_) print(*bad_, true);
    answer_.reset();
    bad_.reset();
  }

 private:
  const Filter& filter_;
  std::optional<Json> answer_;
  std::optional<Json> bad_;
};

ExitCode run_filter(const Filter& filter, const FilterOptions& options) {
  Input input = Input::open(path_of_lines(options.operand, options.file, "a filter reads"));
  FilterAnswers answers(filter);
  return answer_lines(input, {"reading", "read"}, answers);
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

ExitCode answer_lines(Input& input, const LineRun& run, LineAnswers& answers) {
  LineReader reader(input, kLineBytesMax);
  Progress progress(std::cerr, run.doing, input.size(), Progress::on_terminal());
  std::uint64_t bad_lines = 0;
  const auto print = [&bad_lines](const Json& answer, bool is_bad) {
    std::cout << to_line(answer) << '\n';
    if (is_bad) ++bad_lines;
  };
  std::string_view line;
  while (true) {
    if (reader.may_block()) {
      answers.answer(print);
      flush_output(std::cout);
    }
    const LineReader::Next kind = reader.next(line);
    if (kind == LineReader::Next::kEnd) break;
    answers.take(kind, line, reader.line_number());
    if (!answers.has_room()) answers.answer(print);
    progress.update(reader.bytes_read(), reader.line_number());
  }
  answers.answer(print);
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
