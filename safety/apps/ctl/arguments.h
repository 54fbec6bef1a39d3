// Arguments: the command line, parsed by CLI11 without its surprises.
//
// CLI11 gives a value in brackets, quotes or braces a meaning of its own, takes "++" for the end of
// a command and sometimes "--" too, and quotes what it does not understand in its errors. A message
// is any bytes and must never be shown, so every argument is protected before the parse, every
// value is read by the functions here, and errors are worded here.
//
// Threads: one thread. Blocks: never.
// Fails:   a value out of its range throws CLI::ValidationError, which usage_failure() words.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "safety/apps/ctl/failure.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace han::safety {

// What the chosen command does, set while the command line is parsed.
struct Command {
  std::function<ExitCode()> run;
};

struct ArgumentRange {  // both ends included
  std::int64_t min;
  std::int64_t max;
};

// The arguments after the program's name, in the order that CLI::App::parse takes (reversed).
std::vector<std::string> protected_arguments(int argc, const char* const* argv);

// A command below `parent` that must be named to the end. Its help shows the example and the exit
// codes: those of every command, and between them `more_codes`.
CLI::App& add_group(CLI::App& parent, const std::string& name, const std::string& description,
                    const std::string& example);
CLI::App& add_leaf(CLI::App& parent, const std::string& name, const std::string& description,
                   const std::string& example, const std::string& more_codes = "");

// `more_codes` of commands that exit with a verdict, and of those that find faults.
inline constexpr const char* kVerdictCodes = ", 10 block, 11 indeterminate";
inline constexpr const char* kFindingsCode = ", 3 findings";

// `run` is what the command does when it is chosen.
void set_run(CLI::App& leaf, Command& command, std::function<ExitCode()> run);
// The same with the options that the command's arguments were written to.
template <typename Options>
void set_run(CLI::App& leaf, Command& command, std::shared_ptr<Options> options,
             ExitCode (*run)(const Options&)) {
  set_run(leaf, command, [options = std::move(options), run] { return run(*options); });
}

// Each writes to its target while parsing, so the target must live as long as the app.
void add_flag(CLI::App& app, const std::string& name, bool& target, const std::string& description);
void add_json_flag(CLI::App& app, bool& target);
void add_string(CLI::App& app, const std::string& name, std::optional<std::string>& target,
                const std::string& description);
// An option that may be given again and again.
void add_strings(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                 const std::string& description);
void add_integer(CLI::App& app, const std::string& name, ArgumentRange range,
                 std::optional<std::int64_t>& target, const std::string& description);
// One argument without a name, or any number of them.
void add_operand(CLI::App& app, const std::string& name, std::optional<std::string>& target,
                 const std::string& description);
void add_operands(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                  const std::string& description);

// What is wrong with the command line, without any of its values.
Failure usage_failure(const CLI::App& app, const CLI::ParseError& error);

}  // namespace han::safety
