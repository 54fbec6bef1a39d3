#include "safety/apps/ctl/check_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <vector>

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

using SubjectKind = SubjectJudge::Subject::Kind;

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

ExitCode check_one(const CheckOptions& options) {
  const std::string raw = read_text(options.source, word_of(options.kind));
  const OfflineJudge offline(options.judge);
  TextScratch scratch(offline.engine());
  const SubjectJudge::Subject subject{options.kind, raw};
  const Verdict verdict = offline.subjects().judge_all({&subject, 1}, scratch).front();
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

// Lines of --lines that are judged together, so that their hosts are resolved together: a verdict
// each, or {"error"}.
class CheckedLines final : public LineAnswers {
 public:
  CheckedLines(const CheckOptions& options, const SubjectJudge& judge)
      : options_(options), judge_(judge), scratch_(judge.engine()) {}

  void take(LineReader::Next kind, std::string_view line, std::uint64_t number) override {
    Line taken{number, {}, kind == LineReader::Next::kTooLong && starts_with_json(line, '"')};
    if (kind == LineReader::Next::kLine) taken.raw = decode_json_string(line);
    if (taken.raw) bytes_ += taken.raw->size();
    lines_.push_back(std::move(taken));
  }
  bool has_room() const override { return lines_.size() < kLinesMax && bytes_ < kBytesMax; }
  void answer(const Print& print) override {
    std::vector<SubjectJudge::Subject> subjects;
    for (const Line& line : lines_) {
      if (line.raw) subjects.push_back({options_.kind, *line.raw});
    }
    const std::vector<Verdict> verdicts = judge_.judge_all(subjects, scratch_);
    auto verdict = verdicts.begin();
    for (const Line& line : lines_) {
      if (line.is_over_limit) {
        // Whatever it decodes to is longer than any config allows.
        print(verdict_json(over_limit_verdict(judge_.engine().rules(), judge_.config()),
                           Layer::kComputed),
              false);
      } else if (!line.raw) {
        print({{"error", "line " + std::to_string(line.number) +
                             " is not one JSON string: write one string in quotes a line"}},
              true);
      } else {
        Json json = verdict_json(*verdict++, Layer::kComputed);
        if (options_.show_text) json["text"] = text_json(*line.raw);
        print(json, false);
      }
    }
    lines_.clear();
    bytes_ = 0;
  }

 private:
  struct Line {
    std::uint64_t number;
    std::optional<std::string> raw;  // absent: a bad line, or one that is over the limit
    bool is_over_limit;
  };
  // What is held at once; a line that goes beyond is the last one.
  static constexpr std::size_t kLinesMax = 128;
  static constexpr std::size_t kBytesMax = std::size_t{1} << 20;

  const CheckOptions& options_;
  const SubjectJudge& judge_;
  TextScratch scratch_;
  std::vector<Line> lines_;
  std::size_t bytes_ = 0;
};

ExitCode check_lines(const CheckOptions& options) {
  Input input =
      Input::open(path_of_lines(options.source.argument, options.source.file, "--lines judges"));
  const OfflineJudge offline(options.judge);
  CheckedLines lines(options, offline.subjects());
  return answer_lines(input, {"checking", "judged"}, lines);
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
      "A URL has its scheme; check text finds links without one. The host is resolved by the\n"
      "system's DNS servers, or by those of --dns-server.");
}

}  // namespace han::safety
