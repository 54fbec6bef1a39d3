#include "safety/apps/ctl/rules_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

#include "safety/apps/ctl/input.h"
#include "safety/apps/ctl/offline_judge.h"
#include "safety/apps/ctl/output.h"
#include "safety/text/rule_examples.h"
#include "safety/text/rules_file.h"
#include "safety/text/text_engine.h"

namespace han::safety {
namespace {

constexpr std::size_t kRulesFileBytesMax = std::size_t{128} << 20;

struct RulesOptions {
  std::optional<std::string> file;
  bool json = false;
};

// What lint says of a file: the engine, or what refuses it.
struct Lint {
  std::string name;
  std::size_t rules = 0;
  std::optional<TextEngine> engine;
  Json findings = Json::array();
};

std::vector<Rule> read_rules(const std::string& name, const std::string& path) {
  if (path != "-") return load_rules(path);
  return parse_rules(name, Input::open(path).read(kRulesFileBytesMax + 1));
}

Lint lint(const RulesOptions& options) {
  if (!options.file) {
    throw Failure(ExitCode::kUsage, "no rules file is named", "give its path, or -");
  }
  Lint out;
  out.name = *options.file == "-" ? "standard input" : *options.file;
  // A file that cannot be read is no finding about its rules.
  if (*options.file != "-") Input::open(*options.file);
  try {
    std::vector<Rule> rules = read_rules(out.name, *options.file);
    out.rules = rules.size();
    out.engine.emplace(out.name, std::move(rules), activation_date());
  } catch (const ConfigError& error) {
    out.findings.push_back(
        {{"line", error.line()}, {"field", error.field()}, {"what", error.what_and_fix()}});
    if (!options.json) std::cout << printable(error.what()) << '\n';
  }
  return out;
}

ExitCode run_lint(const RulesOptions& options) {
  const Lint result = lint(options);
  const std::size_t live = result.engine ? result.engine->live().size() : 0;
  if (options.json) {
    std::cout << to_line({{"file", result.name},
                          {"rules", result.rules},
                          {"live", live},
                          {"findings", result.findings}})
              << '\n';
  } else if (result.engine) {
    std::cout << result.rules << " rules, " << live << " of them live: nothing found\n";
  }
  flush_output(std::cout);
  return result.engine ? ExitCode::kOk : ExitCode::kFindings;
}

std::size_t count_examples(const TextEngine& engine) {
  std::size_t count = 0;
  for (const Rule& rule : engine.live()) count += rule.match.size() + rule.no_match.size();
  return count;
}

std::string_view list_of(const ExampleFailure& failure) {
  return failure.expected == ExampleExpected::kHit ? "match" : "no_match";
}

ExitCode run_test(const RulesOptions& options) {
  Lint result = lint(options);
  Json failures = Json::array();
  std::size_t examples = 0;
  if (result.engine) {
    examples = count_examples(*result.engine);
    for (const ExampleFailure& failure : run_examples(*result.engine)) {
      failures.push_back({{"rule", failure.rule_id},
                          {"line", failure.line},
                          {"list", list_of(failure)},
                          {"index", failure.index}});
      if (options.json) continue;
      std::cout << printable(result.name) << ':' << failure.line << ": rule " << failure.rule_id
                << ": " << list_of(failure) << '[' << failure.index << "]: the rule "
                << (failure.expected == ExampleExpected::kHit ? "does not hit" : "hits")
                << " it: change the pattern or the example\n";
    }
  }
  const bool is_good = result.engine && failures.empty();
  if (options.json) {
    std::cout << to_line({{"file", result.name},
                          {"rules", result.rules},
                          {"examples", examples},
                          {"findings", result.findings},
                          {"failures", failures}})
              << '\n';
  } else if (result.engine) {
    std::cout << examples << " examples, " << failures.size() << " failed\n";
  }
  flush_output(std::cout);
  return is_good ? ExitCode::kOk : ExitCode::kFindings;
}

void add_rules_leaf(CLI::App& group, Command& command, const std::string& name,
                    const std::string& description, ExitCode (*run)(const RulesOptions&)) {
  CLI::App& leaf =
      add_leaf(group, name, description, "safetyctl rules " + name + " rules.yaml", kFindingsCode);
  const auto options = std::make_shared<RulesOptions>();
  add_operand(leaf, "FILE", options->file, "The rules file; - reads standard input");
  add_json_flag(leaf, options->json);
  set_run(leaf, command, options, run);
}

}  // namespace

void add_rules_command(CLI::App& app, Command& command) {
  CLI::App& group =
      add_group(app, "rules", "Look after a rules file", "safetyctl rules lint rules.yaml");
  add_rules_leaf(group, command, "lint", "Load and compile a rules file; exits 3 if it is refused",
                 run_lint);
  add_rules_leaf(group, command, "test", "Run the rules' own examples; exits 3 if one fails",
                 run_test);
}

}  // namespace han::safety
