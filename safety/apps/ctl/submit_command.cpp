#include "safety/apps/ctl/submit_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "safety/apps/ctl/database.h"
#include "safety/apps/ctl/input.h"
#include "safety/apps/ctl/line_load.h"
#include "safety/apps/ctl/output.h"
#include "safety/apps/ctl/progress.h"
#include "safety/apps/ctl/stop_signal.h"
#include "safety/apps/ctl/submit_line.h"
#include "safety/apps/ctl/submitter.h"
#include "safety/apps/ctl/task_output.h"
#include "safety/apps/ctl/task_wait.h"
#include "safety/apps/ctl/verdict_output.h"
#include "safety/text/utf8.h"
#include "safety/verdict.h"

namespace han::safety {
namespace {

constexpr std::size_t kWaitedTasksMax = 1'000'000;
constexpr std::size_t kKeyPrefixBytesMax = 150;
constexpr std::int64_t kTimeoutDefault = 60;
constexpr ArgumentRange kTimeoutRange{1, 24 * 3600};
constexpr ArgumentRange kSkipRange{0, INT64_MAX};

struct SubmitOptions {
  std::string kind;
  std::vector<std::string> texts;
  std::optional<std::string> lines;
  std::optional<std::int64_t> skip;
  std::optional<std::string> keys;
  std::optional<std::string> caller;
  std::optional<std::string> key;
  std::optional<std::string> subject;
  std::optional<std::int64_t> version;
  std::optional<std::int64_t> priority_class;
  std::optional<std::int64_t> timeout;
  DatabaseOptions database;
  bool ids = false;
  bool wait = false;

  std::optional<std::int16_t> class_given() const {
    if (!priority_class) return std::nullopt;
    return static_cast<std::int16_t>(*priority_class);
  }
};

void check_usage(const SubmitOptions& options) {
  const auto refuse = [](std::string_view what, std::string_view fix) {
    throw Failure(ExitCode::kUsage, what, fix);
  };
  if (options.texts.empty() != options.lines.has_value()) {
    refuse("subjects come either as arguments or by --lines", "give one of the two");
  }
  const bool names_one = options.key || options.subject || options.version;
  if (names_one && options.texts.size() != 1) {
    refuse("--key, --subject and --version name one subject", "give one, or put them into lines");
  }
  if ((options.skip || options.keys) && !options.lines) {
    refuse("--skip and --keys speak of lines", "give --lines FILE too");
  }
  const std::string& keys = options.keys.value_or("k");
  if (keys.empty() || keys.size() > kKeyPrefixBytesMax || !is_valid_utf8(keys)) {
    refuse("--keys is no start of a key", "give 1 to 150 bytes of UTF-8");
  }
}

pgqueue::NewTask task_of(const std::string& text, const SubmitOptions& options) {
  pgqueue::NewTask task;
  task.kind = options.kind;
  task.payload = text == "-" ? Input::open("-").read(kPayloadBytesMax + 1) : text;
  if (task.payload.size() > kPayloadBytesMax) {
    throw Failure(ExitCode::kFailure, "a subject is longer than 2 MiB, nothing was submitted",
                  "leave it out; more than 1 MiB is never judged");
  }
  task.idempotency_key = options.key;
  task.subject_id = options.subject;
  task.subject_version = options.version;
  task.priority_class = options.class_given();
  try {
    check_new_task(task);
  } catch (const SubmitLineError& error) {
    throw Failure(ExitCode::kUsage, "the task is refused", error.what());
  }
  return task;
}

Json submission_json(const pgqueue::Submission& submission) {
  Json json;
  json["task_id"] = submission.task_id.to_string();
  json["outcome"] = to_string(submission.outcome);
  return json;
}

class SubmitRun {
 public:
  explicit SubmitRun(const SubmitOptions& options)
      : options_(options),
        pool_(command_pool(options.database)),
        queue_(pool_, {}),
        hints_(cache::RedisEndpoint::process_environment),
        submitter_(queue_,
                   {.caller = options.caller.value_or("safetyctl"),
                    .is_stopped = [this] { return stop_ && stop_->has_come(); }},
                   hints_, [this](const auto& batch) { take(batch); }) {}

  ExitCode run() {
    std::optional<Decision> decision;
    try {
      options_.lines ? submit_lines() : submit_arguments();
      if (options_.wait) decision = wait();
    } catch (const OutputClosed&) {
      if (!load_) throw;
      // Whoever loads a file must know how far it came.
      throw Failure(ExitCode::kFailure, "standard output was closed", load_->resume_hint());
    } catch (const std::exception&) {
      print_summary_if_read();
      throw;
    }
    print_summary();
    check_conflicts();
    if (tasks_without_verdict_ > 0) {
      throw Failure(ExitCode::kFailure,
                    std::to_string(tasks_without_verdict_) + " tasks have no verdict",
                    "look at them later with safetyctl task show, or give a longer --timeout");
    }
    return decision ? exit_code(*decision) : ExitCode::kOk;
  }

 private:
  void submit_arguments() {
    std::vector<pgqueue::NewTask> tasks;
    for (const std::string& text : options_.texts) tasks.push_back(task_of(text, options_));
    for (pgqueue::NewTask& task : tasks) submitter_.add(std::move(task));
    submitter_.flush();
  }

  void submit_lines() {
    stop_.emplace();
    load_.emplace(LineLoadOptions{.path = *options_.lines,
                                  .skip = static_cast<std::uint64_t>(options_.skip.value_or(0)),
                                  .key_prefix = options_.keys,
                                  .priority_class = options_.class_given(),
                                  .kind = options_.kind},
                  submitter_, *stop_, Progress::on_terminal());
    load_->run();
    loaded_at_ = system_clock().now();
    // From here on a signal ends the program at once.
    stop_.reset();
  }

  // A batch was committed.
  void take(const std::vector<pgqueue::Submission>& batch) {
    if (load_) load_->note_committed(batch);
    if (!options_.lines || options_.ids || options_.wait) {
      if (load_) load_->clear_progress();
      for (const pgqueue::Submission& submission : batch) print(submission);
      flush_output(std::cout);
    }
    if (!options_.wait) return;
    if (kept_.size() + batch.size() > kWaitedTasksMax) {
      throw Failure(ExitCode::kFailure, "--wait waits for 1,000,000 tasks and there are more",
                    load_ ? load_->resume_hint() : "leave --wait out");
    }
    kept_.insert(kept_.end(), batch.begin(), batch.end());
  }

  void print(const pgqueue::Submission& submission) const {
    if (options_.database.json) {
      std::cout << to_line(submission_json(submission)) << '\n';
    } else {
      std::cout << submission.task_id.to_string() << "  " << to_string(submission.outcome) << '\n';
    }
  }

  // The strongest decision of all tasks; nullopt when there is none.
  std::optional<Decision> wait() {
    TaskWait waiting(
        pool_, Deadline::after(std::chrono::seconds(options_.timeout.value_or(kTimeoutDefault))));
    Progress progress(std::cerr, "waiting", kept_.size(), Progress::on_terminal());
    std::optional<Decision> strongest;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      progress.update(i);
      if (kept_[i].outcome == pgqueue::SubmitOutcome::kConflict) continue;
      const auto task = waiting.wait(kept_[i].task_id);
      progress.clear();
      print_finished(kept_[i], task);
      const auto decision =
          task && task->decision ? parse_decision(*task->decision) : std::optional<Decision>();
      if (!decision) {
        ++tasks_without_verdict_;
      } else {
        strongest = strongest ? combine(*strongest, *decision) : *decision;
      }
    }
    return strongest;
  }

  void print_finished(const pgqueue::Submission& submission,
                      const std::optional<pgqueue::TaskView>& task) const {
    const std::string state = task ? task->state : "unfinished";
    if (options_.database.json) {
      Json json = {{"task_id", submission.task_id.to_string()}, {"state", state}};
      if (task) json.update(task_json(*task));
      json.erase("id");
      std::cout << to_line(json) << '\n';
    } else {
      std::cout << submission.task_id.to_string() << "  " << state << "  "
                << shown(task ? task->decision : std::nullopt) << '\n';
    }
    flush_output(std::cout);
  }

  void print_summary_if_read() {
    try {
      print_summary();
    } catch (const OutputClosed&) {
      // The error that comes after it goes to standard error.
    }
  }

  void print_summary() {
    const Submitter::Counts& counts = submitter_.counts();
    const std::string hint(hints_.finish());
    const double seconds =
        std::chrono::duration<double>(loaded_at_.value_or(system_clock().now()) - started_at_)
            .count();
    const auto rate = static_cast<std::uint64_t>(static_cast<double>(counts.submitted()) / seconds);
    if (options_.database.json) {
      Json json = {{"submitted", counts.submitted()},
                   {"created", counts.created},
                   {"duplicate", counts.duplicate},
                   {"conflict", counts.conflict},
                   {"superseded", counts.superseded},
                   {"quarantined", counts.quarantined},
                   {"hint", hint}};
      if (load_) {
        json["last_line"] = load_->last_line();
        json["seconds"] = seconds;
        json["per_second"] = rate;
      }
      std::cout << to_line(json) << '\n';
    } else {
      std::cout << counts.submitted() << " submitted: " << counts.created << " created, "
                << counts.duplicate << " duplicate, " << counts.superseded << " superseded, "
                << counts.quarantined << " quarantined; " << counts.conflict << " conflict; hint "
                << hint;
      if (load_) {
        std::cout << "; to line " << load_->last_line() << " in "
                  << static_cast<std::int64_t>(seconds) << " s, " << rate << "/s";
      }
      std::cout << '\n';
    }
    flush_output(std::cout);
  }

  void check_conflicts() const {
    const auto conflicts = submitter_.counts().conflict;
    if (conflicts == 0) return;
    const auto line = load_ ? load_->first_conflict() : std::nullopt;
    throw Failure(ExitCode::kFailure,
                  std::to_string(conflicts) +
                      " tasks conflict: their key or subject version stands for another one",
                  std::string("use a new key or a newer version") +
                      (line ? ", first in line " + std::to_string(*line) : ""));
  }

  const SubmitOptions& options_;
  const Clock::SteadyTime started_at_ = system_clock().now();
  pgqueue::Pool pool_;
  pgqueue::Queue queue_;
  HintSender hints_;
  Submitter submitter_;
  std::optional<StopSignal> stop_;
  std::optional<LineLoad> load_;
  std::optional<Clock::SteadyTime> loaded_at_;
  std::vector<pgqueue::Submission> kept_;
  std::uint64_t tasks_without_verdict_ = 0;
};

ExitCode submit(const SubmitOptions& options) {
  check_usage(options);
  return SubmitRun(options).run();
}

// One kind's command; `help` is its usage and what a line of --lines is.
void add_submit_leaf(CLI::App& group, Command& command, std::string_view kind, const char* subjects,
                     const char* help) {
  const std::string title =
      std::string("Submit ").append(subjects).append("; with --wait exits 0, 10 or 11 like check");
  CLI::App& leaf = add_leaf(group, std::string(kind), title, help, kVerdictCodes);
  const auto options = std::make_shared<SubmitOptions>();
  options->kind = kind;
  add_operands(leaf, kind == kLinkKind ? "URL" : "TEXT", options->texts,
               "Subjects; - reads one from standard input");
  add_string(leaf, "--lines", options->lines, "Submit the lines of this file; - standard input");
  add_integer(leaf, "--skip", kSkipRange, options->skip, "Pass over the first lines (0)");
  add_string(leaf, "--keys", options->keys,
             "Lines without a key get this, a dash and the line's number for one");
  add_flag(leaf, "--ids", options->ids, "Print the id of each line's task too");
  add_string(leaf, "--caller", options->caller, "The registered caller (safetyctl)");
  add_string(leaf, "--key", options->key, "Idempotency key of the one subject");
  add_string(leaf, "--subject", options->subject, "Subject id of the one subject, with --version");
  add_integer(leaf, "--version", kVersionRange, options->version, "Version of the subject");
  add_integer(leaf, "--class", kClassRange, options->priority_class,
              "Priority class, 0 is the most urgent (1)");
  add_flag(leaf, "--wait", options->wait, "Wait until every task is finished");
  add_integer(leaf, "--timeout", kTimeoutRange, options->timeout, "Seconds to wait (60)");
  add_database_options(leaf, options->database);
  set_run(leaf, command, options, submit);
}

}  // namespace

void add_submit_command(CLI::App& app, Command& command) {
  CLI::App& group = add_group(app, "submit", "Put subjects into the queue",
                              "safetyctl submit text --wait 'hello there'");
  add_submit_leaf(
      group, command, kTextKind, "texts",
      "safetyctl submit text --wait 'hello there'\n"
      "  safetyctl submit text --caller chat --lines messages.jsonl --keys import-7\n"
      "A line is a JSON string or an object with text and any of key, subject_id,\n"
      "subject_version, class, fairness_bucket, run_after_ms, decide_within_ms.\n"
      "Lines are submitted in order. What ends a load says up to which line it came: go\n"
      "on with --skip, or run it again when every line has a key (--keys).\n"
      "Workers are told over MESSAGE_SAFETY_REDIS_URL (or _URL_FILE) if it is set.");
  add_submit_leaf(group, command, kLinkKind, "links",
                  "safetyctl submit link --wait https://example.com/\n"
                  "A line of --lines is as that of `submit text`, with url in place of text.");
}

}  // namespace han::safety
