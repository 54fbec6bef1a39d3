// Lines answered in their place: one JSON object out for each line in, in order, none missing; and
// the filters, commands that are nothing else.
//
// A line that is no value of a filter gives {"error"} in its place, with "input": null where the
// filter's answers name their input, and the command ends with code 1 after the last line, as
// check --lines does. What is ready is shown before a read may wait.
//
// Threads: one thread. Blocks: while the input is read.
// Fails:   Failure when the input cannot be read, or after bad lines.
// Limits:  lines of 8 MiB; a longer one is a bad line.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "safety/apps/ctl/arguments.h"
#include "safety/apps/ctl/input.h"
#include "safety/apps/ctl/output.h"

namespace han::safety {

// The input of a command that reads lines: standard input without an operand, or with "-", else the
// file. `what` begins the sentence "... the lines of one input".
std::string path_of_lines(const std::optional<std::string>& operand,
                          const std::optional<std::string>& file, std::string_view what);

struct LineRun {
  std::string doing;  // for the progress: "checking"
  std::string done;   // ends the sentence "3 lines were not ..."
};

// Takes lines, several where that saves something, and answers what it took.
class LineAnswers {
 public:
  // `is_bad`: the line is none that the command takes.
  using Print = std::function<void(const Json& answer, bool is_bad)>;

  virtual ~LineAnswers() = default;

  // `line`: valid during the call.
  virtual void take(LineReader::Next kind, std::string_view line, std::uint64_t number) = 0;
  virtual bool has_room() const = 0;
  // Gives the answer to each line that was taken since the last call, in order.
  virtual void answer(const Print& print) = 0;
};

// Prints the answer to each line: when `answers` has no room, and before a read may wait. Throws
// Failure behind the last one when some were bad.
ExitCode answer_lines(Input& input, const LineRun& run, LineAnswers& answers);

enum class InputField { kNone, kShown };  // whether the answers have "input"

struct Filter {
  std::string name;
  std::string description;
  std::string example;
  InputField field;
  // Ends the sentence "line 3 is not ...": "one text as a JSON string".
  std::string_view expected;
  // The answer to a line; nullopt: a bad line.
  std::optional<Json> (*answer)(std::string_view line);
};

void add_filter(CLI::App& app, Command& command, const Filter& filter);

}  // namespace han::safety
