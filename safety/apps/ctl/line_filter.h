// A filter: one JSON value a line in, one JSON object a line out, in order, none missing.
//
// A line that is no value of the filter gives {"error"} in its place, with "input": null where the
// filter's answers name their input, and the command ends with code 1 after the last line, as
// check --lines does. What is ready is shown before a read may wait.
//
// Threads: one thread. Blocks: while the input is read.
// Fails:   Failure when the input cannot be read, or after bad lines.
// Limits:  lines of 8 MiB; a longer one is a bad line.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "safety/apps/ctl/arguments.h"
#include "safety/apps/ctl/output.h"

namespace han::safety {

struct FilterOptions {
  std::optional<std::string> operand;  // "-" or nothing: standard input
  std::optional<std::string> file;
  bool json = true;  // --json, which every command takes, says nothing new to a filter
};

enum class InputField { kNone, kShown };  // whether the answers have "input"

// The answer to a line; nullopt: a bad line.
using LineAnswer = std::function<std::optional<Json>(std::string_view line)>;

void add_filter_source(CLI::App& app, FilterOptions& options);

// `expected` ends the sentence "line 3 is not ...", for example "one JSON string: write one in
// quotes a line".
ExitCode run_filter(const FilterOptions& options, InputField field, std::string_view expected,
                    const LineAnswer& answer);

}  // namespace han::safety
