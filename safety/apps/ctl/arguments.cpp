#include "safety/apps/ctl/arguments.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>

namespace han::safety {
namespace {

// Put in front of every argument whose first character CLI11 may take for more than a character,
// and of all arguments behind "--".
constexpr char kMark = '\x01';
constexpr std::string_view kMarked = "[{(\"'`+\x01";

std::string unprotected(const std::string& argument) {
  const bool is_marked = !argument.empty() && argument.front() == kMark;
  return is_marked ? argument.substr(1) : argument;
}

[[noreturn]] void fail_range(const std::string& name, ArgumentRange range) {
  throw CLI::ValidationError(name, "must be a whole number from " + std::to_string(range.min) +
                                       " to " + std::to_string(range.max));
}

std::int64_t parse_integer(const std::string& name, const std::string& text, ArgumentRange range) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < range.min || value > range.max) {
    fail_range(name, range);
  }
  return value;
}

// Reads the raw values of an option: CLI11's conversions never see them.
CLI::Option* add_raw(CLI::App& app, const std::string& name, const std::string& description,
                     std::function<void(const std::string&)> take) {
  const auto take_all = [take = std::move(take)](const CLI::results_t& values) {
    for (const std::string& value : values) take(unprotected(value));
    return true;
  };
  return app.add_option(name, take_all, description)->type_name("VALUE");
}

// The words of the commands that were parsed, such as "safetyctl check text".
std::string command_words(const CLI::App& app) {
  std::string words = "safetyctl";
  const CLI::App* at = &app;
  while (true) {
    const auto chosen = at->get_subcommands();
    if (chosen.empty()) return words;
    at = chosen.front();
    words += " " + at->get_name();
  }
}

template <typename Type>
bool is_a(const CLI::ParseError& error) {
  return dynamic_cast<const Type*>(&error) != nullptr;
}

// By type: get_name() of an error is sometimes the command's.
std::string complaint(const CLI::ParseError& error) {
  const std::string_view text = error.what();
  if (is_a<CLI::RequiredError>(error) && text.find("ubcommand") != std::string_view::npos) {
    return "a command of the list is required";
  }
  // These speak of names only, or come from this file.
  if (is_a<CLI::RequiredError>(error) || is_a<CLI::ArgumentMismatch>(error) ||
      is_a<CLI::ValidationError>(error)) {
    return std::string(text);
  }
  if (is_a<CLI::ExtrasError>(error)) {
    return "an option is not known, or there is an argument too many (quote a text with spaces, "
           "write -- before one that starts with -)";
  }
  return "an option has a value that it cannot take";
}

}  // namespace

std::vector<std::string> protected_arguments(int argc, const char* const* argv) {
  std::vector<std::string> arguments;
  bool are_options_over = false;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--" && !are_options_over) {
      // CLI11 would leave the command here once it has one text.
      are_options_over = true;
      continue;
    }
    const bool is_special =
        !argument.empty() && kMarked.find(argument.front()) != std::string_view::npos;
    if (are_options_over || is_special) argument.insert(argument.begin(), kMark);
    arguments.push_back(std::move(argument));
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

CLI::App& add_group(CLI::App& parent, const std::string& name, const std::string& description,
                    const std::string& example) {
  CLI::App* group = parent.add_subcommand(name, description);
  // Otherwise CLI11 gives it the parent's.
  group->footer("Example:\n  " + example);
  // Exactly one: otherwise CLI11 would take a later argument that spells a command for one.
  group->require_subcommand(1);
  return *group;
}

CLI::App& add_leaf(CLI::App& parent, const std::string& name, const std::string& description,
                   const std::string& example, const std::string& more_codes) {
  CLI::App* leaf = parent.add_subcommand(name, description);
  leaf->footer("Example:\n  " + example + "\nExit codes: 0 done" + more_codes +
               ", 2 usage, 1 other failures.");
  return *leaf;
}

void set_run(CLI::App& leaf, Command& command, std::function<ExitCode()> run) {
  leaf.callback([run = std::move(run), &command] { command.run = run; });
}

void add_flag(CLI::App& app, const std::string& name, bool& target,
              const std::string& description) {
  app.add_flag(name, target, description);
}

void add_json_flag(CLI::App& app, bool& target) {
  add_flag(app, "--json", target, "Print JSON for machines instead of a table");
}

void add_string(CLI::App& app, const std::string& name, std::optional<std::string>& target,
                const std::string& description) {
  add_raw(app, name, description, [&target](const std::string& value) { target = value; });
}

void add_strings(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                 const std::string& description) {
  add_raw(app, name, description, [&target](const std::string& value) {
    target.push_back(value);
  })->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_integer(CLI::App& app, const std::string& name, ArgumentRange range,
                 std::optional<std::int64_t>& target, const std::string& description) {
  add_raw(app, name, description, [name, range, &target](const std::string& value) {
    target = parse_integer(name, value, range);
  })->type_name("NUMBER");
}

void add_operand(CLI::App& app, const std::string& name, std::optional<std::string>& target,
                 const std::string& description) {
  add_raw(app, name, description, [&target](const std::string& value) {
    target = value;
  })->type_name("");
}

void add_operands(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                  const std::string& description) {
  add_raw(app, name, description, [&target](const std::string& value) { target.push_back(value); })
      ->type_name("")
      ->expected(1, 1 << 20)
      ->allow_extra_args(true);
}

Failure usage_failure(const CLI::App& app, const CLI::ParseError& error) {
  return {ExitCode::kUsage, complaint(error), "see " + command_words(app) + " --help"};
}

}  // namespace han::safety
