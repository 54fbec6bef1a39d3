#include "safety/apps/ctl/rules_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <utility>

#include "safety/apps/ctl/input.h"
#include "safety/apps/ctl/offline_judge.h"
#include "safety/apps/ctl/output.h"
#include "safety/bundle.h"
#include "safety/host_examples.h"
#include "safety/link/list_file.h"
#include "safety/list_findings.h"
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

// What lint says of a bundle: the bundle, or what refuses it.
struct Lint {
  std::string name;
  std::shared_ptr<const Bundle> bundle;
  Json findings = Json::array();
  std::size_t count = 0;  // of findings but notes, those that are not shown too
};

// What cannot be read is no finding about its rules.
void check_readable(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    Input::open(path);
    return;
  }
  bool has_any = false;
  // One of them that is missing is a finding: what is there is a bundle.
  for (const char* name : {"rules.yaml", "lists.yaml"}) {
    const std::string file = (std::filesystem::path(path) / name).string();
    if (!std::filesystem::exists(file, error)) continue;
    Input::open(file);
    has_any = true;
  }
  if (!has_any) {
    throw Failure(ExitCode::kFailure, "the folder holds neither rules.yaml nor lists.yaml",
                  "give the path of a bundle or of a rules file");
  }
}

std::shared_ptr<const Bundle> load(const std::string& name, const std::string& path) {
  if (path != "-") return Bundle::load(path, activation_date());
  std::vector<Rule> rules = parse_rules(name, Input::open(path).read(kRulesFileBytesMax + 1));
  return Bundle::of_rules(name, std::move(rules), activation_date());
}

// `level`: "error" refuses the bundle, "warning" is in it and does nothing, "note" does no harm.
void add_finding(Lint& out, const RulesOptions& options, std::string_view level,
                 const ListFinding& finding) {
  const auto& [file, line, field, what] = finding;
  out.findings.push_back(
      {{"level", level}, {"file", file}, {"line", line}, {"field", field}, {"what", what}});
  if (options.json) return;
  std::cout << printable(file);
  if (line > 0) std::cout << ':' << line;
  if (!field.empty()) std::cout << ": " << printable(field);
  std::cout << ": " << (level == "error" ? "" : std::string(level) + ": ") << printable(what)
            << '\n';
}

void say_more(const RulesOptions& options, std::size_t count, std::size_t shown,
              std::string_view what) {
  if (count > shown && !options.json) std::cout << count - shown << " more " << what << '\n';
}

// What is in the lists and does nothing.
void look_into_lists(Lint& out, const RulesOptions& options) {
  const ListFindings found = find_in_lists(*out.bundle);
  for (const ListFinding& one : found.overruled) add_finding(out, options, "warning", one);
  say_more(options, found.overruled_count, found.overruled.size(), "entries are overruled so");
  for (const ListFinding& one : found.repeated) add_finding(out, options, "note", one);
  say_more(options, found.repeated_count, found.repeated.size(), "entries stand there twice");
  out.count += found.overruled_count;
}

Lint lint(const RulesOptions& options) {
  if (!options.file) {
    throw Failure(ExitCode::kUsage, "no rules file is named", "give its path, or -");
  }
  Lint out;
  out.name = *options.file == "-" ? "standard input" : *options.file;
  if (*options.file != "-") check_readable(*options.file);
  try {
    out.bundle = load(out.name, *options.file);
  } catch (const ListFileError& error) {
    for (const ListFault& fault : error.faults()) {
      add_finding(out, options, "error",
                  {error.file(), fault.line, error.field(), std::string(fault.what_and_fix)});
    }
    say_more(options, error.fault_count(), error.faults().size(), "lines of it are wrong");
    out.count += error.fault_count();
  } catch (const ConfigError& error) {
    add_finding(out, options, "error",
                {error.file(), error.line(), error.field(), error.what_and_fix()});
    ++out.count;
  }
  return out;
}

std::size_t rule_count(const Lint& result) {
  return result.bundle ? result.bundle->rule_count() : 0;
}

Json describe(const std::vector<Bundle::LoadedList>& lists) {
  Json out = Json::array();
  for (const Bundle::LoadedList& list : lists) {
    out.push_back({{"id", list.row.id}, {"lines", list.lines}, {"entries", list.entries}});
  }
  return out;
}

ExitCode run_lint(const RulesOptions& options) {
  Lint result = lint(options);
  if (result.bundle) look_into_lists(result, options);
  const std::size_t live = result.bundle ? result.bundle->text_engine()->live().size() : 0;
  if (options.json) {
    Json lists = result.bundle ? describe(result.bundle->loaded_lists()) : Json::array();
    std::cout << to_line({{"file", result.name},
                          {"rules", rule_count(result)},
                          {"live", live},
                          {"lists", std::move(lists)},
                          {"findings", result.findings}})
              << '\n';
  } else if (result.bundle) {
    for (const Bundle::LoadedList& list : result.bundle->loaded_lists()) {
      std::cout << "list " << list.row.id << ": " << list.entries
                << (list.entries == 1 ? " entry\n" : " entries\n");
    }
    const std::size_t resting = result.bundle->resting_lists().size();
    if (resting > 0) std::cout << "lists that are off or expired, not read: " << resting << '\n';
    std::cout << rule_count(result) << " rules, " << live << " of them live: "
              << (result.count == 0 ? "nothing found" : std::to_string(result.count) + " found")
              << '\n';
  }
  flush_output(std::cout);
  return result.count == 0 ? ExitCode::kOk : ExitCode::kFindings;
}

std::size_t count_examples(const TextEngine& engine) {
  std::size_t count = 0;
  for (const Rule& rule : engine.live()) count += rule.match.size() + rule.no_match.size();
  return count;
}

// Of texts and hosts, by the ids of their rules.
std::vector<ExampleFailure> failures_of(const Bundle& bundle) {
  std::vector<ExampleFailure> failures = run_examples(*bundle.text_engine());
  const std::vector<ExampleFailure> of_hosts = run_host_examples(bundle);
  failures.insert(failures.end(), of_hosts.begin(), of_hosts.end());
  std::stable_sort(
      failures.begin(), failures.end(),
      [](const ExampleFailure& a, const ExampleFailure& b) { return a.rule_id < b.rule_id; });
  return failures;
}

std::string_view list_of(const ExampleFailure& failure) {
  return failure.expected == ExampleExpected::kHit ? "match" : "no_match";
}

// The rules file, which is not named when the bundle is a folder.
std::string rules_file_of(const Lint& result) {
  std::error_code error;
  return std::filesystem::is_directory(result.name, error) ? result.name + "/rules.yaml"
                                                           : result.name;
}

ExitCode run_test(const RulesOptions& options) {
  const Lint result = lint(options);
  Json failures = Json::array();
  std::size_t examples = 0;
  if (result.bundle) {
    examples = count_examples(*result.bundle->text_engine());
    for (const ExampleFailure& failure : failures_of(*result.bundle)) {
      failures.push_back({{"rule", failure.rule_id},
                          {"line", failure.line},
                          {"list", list_of(failure)},
                          {"index", failure.index}});
      if (options.json) continue;
      std::cout << printable(rules_file_of(result)) << ':' << failure.line << ": rule "
                << failure.rule_id << ": " << list_of(failure) << '[' << failure.index
                << "]: the rule "
                << (failure.expected == ExampleExpected::kHit ? "does not hit" : "hits")
                << " it: change the pattern or the example\n";
    }
  }
  const bool is_good = result.bundle && failures.empty();
  if (options.json) {
    std::cout << to_line({{"file", result.name},
                          {"rules", rule_count(result)},
                          {"examples", examples},
                          {"findings", result.findings},
                          {"failures", failures}})
              << '\n';
  } else if (result.bundle) {
    std::cout << examples << " examples, " << failures.size() << " failed\n";
  }
  flush_output(std::cout);
  return is_good ? ExitCode::kOk : ExitCode::kFindings;
}

void add_rules_leaf(CLI::App& group, Command& command, const std::string& name,
                    const std::string& description, ExitCode (*run)(const RulesOptions&)) {
  CLI::App& leaf =
      add_leaf(group, name, description,
               "safetyctl rules " + name + " rules.yaml\n  safetyctl rules " + name + " bundle",
               kFindingsCode);
  const auto options = std::make_shared<RulesOptions>();
  add_operand(leaf, "FILE", options->file,
              "The rules file, or a bundle's folder; - reads a rules file from standard input");
  add_json_flag(leaf, options->json);
  set_run(leaf, command, options, run);
}

}  // namespace

void add_rules_command(CLI::App& app, Command& command) {
  CLI::App& group =
      add_group(app, "rules", "Look after rules and lists", "safetyctl rules lint rules.yaml");
  add_rules_leaf(group, command, "lint",
                 "Load and compile rules and lists; exits 3 if one is refused or does nothing",
                 run_lint);
  add_rules_leaf(group, command, "test", "Run the rules' own examples; exits 3 if one fails",
                 run_test);
}

}  // namespace han::safety
