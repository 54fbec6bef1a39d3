#include "safety/apps/ctl/check_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>

#include "safety/apps/ctl/json_string.h"
#include "safety/apps/ctl/line_filter.h"
#include "safety/apps/ctl/offline_judge.h"
#include "safety/apps/ctl/output.h"
#include "safety/apps/ctl/text_source.h"
#include "safety/apps/ctl/verdict_output.h"
#include "safety/policy.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

enum class SubjectKind { kText, kLink };

struct CheckOptions {
  SubjectKind kind = SubjectKind::kText;
  TextSource source;
  JudgeOptions judge;
  bool lines = false;
  bool show_text = false;
  bool json = false;
};

Json text_json(std::string_view text) {
  std::string buffer;
  return repair_utf8(text, buffer);
}

std::string word_of(SubjectKind kind) { return kind == SubjectKind::kText ? "text" : "URL"; }

Verdict judge(SubjectKind kind, std::string_view raw, const SubjectJudge& judge,
              TextScratch& scratch) {
  if (kind == SubjectKind::kText) return judge.judge_text(raw, scratch).verdict;
  return judge.judge_link(raw).verdict;
}

ExitCode check_one(const CheckOptions& options) {
  const std::string raw = read_text(options.source, word_of(options.kind));
  const OfflineJudge offline(options.judge);
  TextScratch scratch(offline.engine());
  const Verdict verdict = judge(options.kind, raw, offline.subjects(), scratch);
  Json json = verdict_json(verdict, Layer::kComputed);
  FieldTable table;
  add_verdict(table, verdict, Layer::kComputed);
  if (options.show_text) {
    json["text"] = text_json(raw);
    table.add("text", to_line(json["text"]));
  }
  print_answer(options.json, json, table);
  return exit_code(verdict.decision);
}

// One line of --lines: the verdict, or {"error"}.
Json check_line(const CheckOptions& options, LineReader::Next kind, std::string_view line,
                std::uint64_t number, const SubjectJudge& subjects, TextScratch& scratch,
                bool& is_bad) {
  if (kind == LineReader::Next::kTooLong && starts_with_json(line, '"')) {
    // Whatever it decodes to is longer than any config allows.
    const Verdict verdict = over_limit_verdict(subjects.engine().rules(), subjects.config());
    return verdict_json(verdict, Layer::kComputed);
  }
  const auto text =
      kind == LineReader::Next::kLine ? decode_json_string(line) : std::optional<std::string>();
  if (!text) {
    is_bad = true;
    return {{"error", "line " + std::to_string(number) +
                          " is not one JSON string: write one string in quotes a line"}};
  }
  const Verdict verdict = judge(options.kind, *text, subjects, scratch);
  Json json = verdict_json(verdict, Layer::kComputed);
  if (options.show_text) json["text"] = text_json(*text);
  return json;
}

ExitCode check_lines(const CheckOptions& options) {
  Input input =
      Input::open(path_of_lines(options.source.argument, options.source.file, "--lines judges"));
  const OfflineJudge offline(options.judge);
  TextScratch scratch(offline.engine());
  const auto answer = [&](LineReader::Next kind, std::string_view line, std::uint64_t number,
                          bool& is_bad) {
    return check_line(options, kind, line, number, offline.subjects(), scratch, is_bad);
  };
  return answer_lines(input, {"checking", "judged"}, answer);
}

ExitCode check(const CheckOptions& options) {
  return options.lines ? check_lines(options) : check_one(options);
}

}  // namespace

void add_check_command(CLI::App& app, Command& command) {
  CLI::App& group =
      add_group(app, "check", "Judge a subject without a server but those of the DNS",
                "safetyctl check text --rules rules.yaml --config config.yaml 'hello there'");
  const auto add = [&](SubjectKind kind, const std::string& name, const std::string& description,
                       const std::string& example) {
    CLI::App& leaf = add_leaf(group, name, description, example, kVerdictCodes);
    const auto options = std::make_shared<CheckOptions>();
    options->kind = kind;
    add_text_source(leaf, options->source, word_of(kind));
    add_judge_options(leaf, options->judge);
    add_flag(leaf, "--lines", options->lines, "Judge each line, a JSON string; prints JSON lines");
    add_flag(leaf, "--show-text", options->show_text,
             "Show the " + word_of(kind) + " in the output");
    add_json_flag(leaf, options->json);
    set_run(leaf, command, options, check);
  };
  add(SubjectKind::kText, "text", "Judge a text, or a text a line; exits 0, 10 (block) or 11",
      "safetyctl check text --rules rules.yaml --config config.yaml 'hello there'\n"
      "  safetyctl check text --lines --file messages.jsonl\n"
      "With --lines each line holds a JSON string and the exit code is 0 when each was "
      "judged.");
  add(SubjectKind::kLink, "link", "Judge a URL, or a URL a line; exits 0, 10 (block) or 11",
      "safetyctl check link --rules rules --config config.yaml https://example.org/a\n"
      "  safetyctl check link --no-dns --lines --file urls.jsonl\n"
      "The host is resolved by the system's DNS servers, or by those of --dns-server.");
}

}  // namespace han::safety
