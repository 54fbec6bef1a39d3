#include "safety/apps/ctl/explain_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

#include "safety/apps/ctl/offline_judge.h"
#include "safety/apps/ctl/output.h"
#include "safety/apps/ctl/rule_explanation.h"
#include "safety/apps/ctl/text_source.h"
#include "safety/apps/ctl/verdict_output.h"
#include "safety/base/check.h"
#include "safety/text/fold.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct ExplainOptions {
  TextSource source;
  JudgeOptions judge;
  bool show_text = false;
  bool json = false;
};

// What happened to a text before it was scanned.
struct Normalisation {
  std::size_t bytes = 0;
  std::size_t sequences_repaired = 0;
  std::size_t bytes_repaired = 0;
  bool fold_changes = false;
};

std::size_t count_of(std::string_view needle, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(needle); at != std::string_view::npos;
       at = text.find(needle, at + needle.size())) {
    ++count;
  }
  return count;
}

Normalisation normalisation_of(std::string_view text) {
  std::string buffer;
  const std::string_view repaired = repair_utf8(text, buffer);
  std::string folded;
  Normalisation out;
  out.bytes = text.size();
  out.sequences_repaired = count_of(kReplacement, repaired) - count_of(kReplacement, text);
  out.bytes_repaired = text.size() + kReplacement.size() * out.sequences_repaired - repaired.size();
  out.fold_changes = fold(repaired, folded) != repaired;
  return out;
}

std::string date_text(std::chrono::sys_days day) {
  const auto milliseconds = std::chrono::sys_time<std::chrono::milliseconds>(day);
  return utc_time(milliseconds.time_since_epoch().count()).substr(0, 10);
}

std::string decision_text(const RuleExplanation& explanation) {
  return explanation.decision ? std::string(to_string(*explanation.decision)) : "";
}

Json rule_json(const Rule& rule, const RuleExplanation& explanation) {
  Json json;
  json["id"] = rule.id;
  json["kind"] = to_string(rule.kind);
  json["profile"] = to_string(rule.profile);
  json["severity"] = rule.severity;
  json["action"] = to_string(rule.action);
  json["mode"] = to_string(rule.mode);
  json["owner"] = rule.owner;
  json["reason"] = rule.reason;
  json["categories"] = rule.categories;
  json["expires"] = rule.expires ? Json(date_text(*rule.expires)) : Json();
  json["decision"] = explanation.decision ? Json(decision_text(explanation)) : Json();
  json["why"] = explanation.why;
  return json;
}

void print_rule(const Rule& rule, const RuleExplanation& explanation) {
  FieldTable table;
  table.add("rule", rule.id);
  table.add("  decides", decision_text(explanation));
  table.add("  why", explanation.why);
  table.add("  kind", std::string(to_string(rule.kind)) + ", profile " +
                          std::string(to_string(rule.profile)));
  table.add("  severity", rule.severity);
  table.add("  action",
            std::string(to_string(rule.action)) + ", mode " + std::string(to_string(rule.mode)));
  table.add("  categories", rule.categories);
  table.add("  owner", rule.owner);
  table.add("  reason", rule.reason);
  table.add("  expires", rule.expires ? date_text(*rule.expires) : "");
  std::cout << '\n';
  table.print(std::cout);
}

class Explanation {
 public:
  Explanation(const ExplainOptions& options, std::string text, TextJudge judge)
      : options_(options), text_(std::move(text)), judge_(std::move(judge)) {
    TextScratch scratch(judge_.engine());
    judged_ = judge_.judge(text_, scratch);
    // A text over the limit was never looked at, so there is nothing to say of it.
    if (judged_.evidence.is_complete()) normalisation_ = normalisation_of(text_);
    std::string buffer;
    if (options_.show_text) shown_text_ = repair_utf8(text_, buffer);
  }

  void print_json() const {
    Json json = verdict_json(judged_.verdict, judged_.layer);
    json["disposition"] = to_string(judged_.verdict.disposition);
    json["has_links"] = judged_.evidence.has_links;
    json["normalisation"] = Json();
    if (normalisation_) {
      json["normalisation"] = {{"bytes", normalisation_->bytes},
                               {"sequences_repaired", normalisation_->sequences_repaired},
                               {"bytes_repaired", normalisation_->bytes_repaired},
                               {"fold_changes", normalisation_->fold_changes}};
    }
    json["explained"] = Json::array();
    for_each_rule([&json](const Rule& rule, const RuleExplanation& explanation) {
      json["explained"].push_back(rule_json(rule, explanation));
    });
    if (shown_text_) json["text"] = *shown_text_;
    std::cout << to_line(json) << '\n';
  }

  void print_table() const {
    FieldTable table;
    add_verdict(table, judged_.verdict, judged_.layer);
    table.add("may hold links", judged_.evidence.has_links ? "yes" : "no");
    if (normalisation_) {
      table.add("bytes", static_cast<std::int64_t>(normalisation_->bytes));
      table.add("bytes repaired", static_cast<std::int64_t>(normalisation_->bytes_repaired));
      table.add("fold changes it", normalisation_->fold_changes ? "yes" : "no");
    }
    if (shown_text_) table.add("text", to_line(Json(*shown_text_)));
    table.print(std::cout);
    for_each_rule(print_rule);
  }

  Decision decision() const { return judged_.verdict.decision; }

 private:
  template <typename Visit>
  void for_each_rule(Visit visit) const {
    for (const auto* ids : {&judged_.verdict.rules, &judged_.verdict.monitor_rules}) {
      for (const std::string& id : *ids) {
        const Rule* rule = judge_.engine().find_rule(id);
        SAFETY_CHECK(rule != nullptr);
        visit(*rule, explain_rule(*rule, judge_.engine().rules(), judge_.config()));
      }
    }
  }

  const ExplainOptions& options_;
  const std::string text_;
  const TextJudge judge_;
  TextJudge::Judged judged_;
  std::optional<Normalisation> normalisation_;
  std::optional<std::string> shown_text_;
};

ExitCode explain(const ExplainOptions& options) {
  std::string text = read_text(options.source);
  const Explanation explanation(options, std::move(text), load_judge(options.judge));
  options.json ? explanation.print_json() : explanation.print_table();
  flush_output(std::cout);
  return exit_code(explanation.decision());
}

}  // namespace

void add_explain_command(CLI::App& app, Command& command) {
  CLI::App& group =
      add_group(app, "explain", "Say why a subject has its verdict",
                "safetyctl explain text --rules rules.yaml --config config.yaml 'gift card code'");
  CLI::App& leaf =
      add_leaf(group, "text", "Which rules hit a text and what each decides; exits like check",
               "safetyctl explain text --rules rules.yaml --config config.yaml 'gift card code'",
               kVerdictCodes);
  const auto options = std::make_shared<ExplainOptions>();
  add_text_source(leaf, options->source);
  add_judge_options(leaf, options->judge);
  add_flag(leaf, "--show-text", options->show_text, "Show the text in the output");
  add_json_flag(leaf, options->json);
  set_run(leaf, command, options, explain);
}

}  // namespace han::safety
