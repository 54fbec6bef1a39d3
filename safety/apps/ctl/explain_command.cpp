#include "safety/apps/ctl/explain_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

#include "safety/apps/ctl/link_explanation.h"
#include "safety/apps/ctl/offline_judge.h"
#include "safety/apps/ctl/output.h"
#include "safety/apps/ctl/text_source.h"
#include "safety/apps/ctl/verdict_explanation.h"
#include "safety/apps/ctl/verdict_output.h"
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

Json place_json(const SubjectJudge::LinkPlace& place) {
  Json json;
  json["start"] = place.start;
  json["end"] = place.end;
  json["obfuscated"] = place.is_obfuscated;
  json["url_hash"] = place.url_hash;
  json["decision"] = to_string(place.verdict.decision);
  json["reason"] = place.verdict.reason;
  json["rules"] = place.verdict.rules;
  return json;
}

class Explanation {
 public:
  Explanation(const ExplainOptions& options, std::string text)
      : options_(options), text_(std::move(text)), judge_(options.judge) {
    TextScratch scratch(judge_.engine());
    judged_ = judge_.subjects().judge_text(text_, scratch);
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
    json["places"] = Json::array();
    for (const auto& place : judged_.links) json["places"].push_back(place_json(place));
    json["explained"] = explained_json(judged_.verdict, judge_.subjects());
    if (shown_text_) json["text"] = *shown_text_;
    std::cout << to_line(json) << '\n';
  }

  void print_table() const {
    FieldTable table;
    add_verdict(table, judged_.verdict, judged_.layer);
    table.add("has links", judged_.evidence.has_links ? "yes" : "no");
    if (normalisation_) {
      table.add("bytes", static_cast<std::int64_t>(normalisation_->bytes));
      table.add("bytes repaired", static_cast<std::int64_t>(normalisation_->bytes_repaired));
      table.add("fold changes it", normalisation_->fold_changes ? "yes" : "no");
    }
    if (shown_text_) table.add("text", to_line(Json(*shown_text_)));
    table.print(std::cout);
    RowTable places({"link at", "bytes", "obfuscated", "decision", "rules"});
    for (const auto& place : judged_.links) {
      places.add({std::to_string(place.start), std::to_string(place.end - place.start),
                  place.is_obfuscated ? "yes" : "no",
                  std::string(to_string(place.verdict.decision)), to_line(place.verdict.rules)});
    }
    if (!judged_.links.empty()) {
      std::cout << '\n';
      places.print(std::cout);
    }
    print_explained(judged_.verdict, judge_.subjects(), std::cout);
  }

  Decision decision() const { return judged_.verdict.decision; }

 private:
  const ExplainOptions& options_;
  const std::string text_;
  const OfflineJudge judge_;
  SubjectJudge::JudgedText judged_;
  std::optional<Normalisation> normalisation_;
  std::optional<std::string> shown_text_;
};

ExitCode explain_text(const ExplainOptions& options) {
  std::string text = read_text(options.source);
  const Explanation explanation(options, std::move(text));
  options.json ? explanation.print_json() : explanation.print_table();
  flush_output(std::cout);
  return exit_code(explanation.decision());
}

ExitCode explain_link(const ExplainOptions& options) {
  const std::string url = read_text(options.source, "URL");
  const OfflineJudge judge(options.judge);
  const LinkExplanation explanation(judge, url, options.show_text);
  options.json ? explanation.print_json(std::cout) : explanation.print_table(std::cout);
  flush_output(std::cout);
  return exit_code(explanation.decision());
}

std::shared_ptr<ExplainOptions> add_options(CLI::App& leaf, const std::string& what) {
  auto options = std::make_shared<ExplainOptions>();
  add_text_source(leaf, options->source, what);
  add_judge_options(leaf, options->judge);
  add_flag(leaf, "--show-text", options->show_text, "Show the " + what + " in the output");
  add_json_flag(leaf, options->json);
  return options;
}

}  // namespace

void add_explain_command(CLI::App& app, Command& command) {
  CLI::App& group =
      add_group(app, "explain", "Say why a subject has its verdict",
                "safetyctl explain text --rules rules.yaml --config config.yaml 'gift card code'");
  CLI::App& text =
      add_leaf(group, "text", "Which rules hit a text and what each decides; exits like check",
               "safetyctl explain text --rules rules.yaml --config config.yaml 'gift card code'",
               kVerdictCodes);
  set_run(text, command, add_options(text, "text"), explain_text);
  CLI::App& link = add_leaf(
      group, "link", "Which lists and findings hit a URL and what its host resolves to",
      "safetyctl explain link --rules rules --config config.yaml --show-text https://example.org/",
      kVerdictCodes);
  set_run(link, command, add_options(link, "URL"), explain_link);
}

}  // namespace han::safety
