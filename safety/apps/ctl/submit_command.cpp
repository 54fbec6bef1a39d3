#include "safety/apps/ctl/submit_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "safety/apps/ctl/database.h"
#include "safety/apps/ctl/input.h"
#include "safety/apps/ctl/output.h"
#include "safety/apps/ctl/progress.h"
#include "safety/apps/ctl/submit_line.h"
#include "safety/apps/ctl/submitter.h"
#include "safety/apps/ctl/task_output.h"
#include "safety/apps/ctl/task_wait.h"
#include "safety/apps/ctl/verdict_output.h"
#include "safety/verdict.h"

namespace han::safety {
namespace {

// A text of 2 MiB needs at most six times as much when each byte is escaped; the rest are keys.
constexpr std::size_t kLineBytesMax = 6 * kPayloadBytesMax + 64 * 1024;
constexpr std::size_t kWaitedTasksMax = 1'000'000;
constexpr std::int64_t kTimeoutDefault = 60;
constexpr ArgumentRange kTimeoutRange{1, 24 * 3600};

struct SubmitOptions {
  std::vector<std::string> texts;
  std::optional<std::string> lines;
  std::optional<std::string> database;
  std::optional<std::string> caller;
  std::optional<std::string> key;
  std::optional<std::string> subject;
  std::optional<std::int64_t> version;
  std::optional<std::int64_t> priority_class;
  std::optional<std::int64_t> timeout;
  bool wait = false;
  bool json = false;
};

void check_usage(const SubmitOptions& options) {
  const auto refuse = [](std::string_view what, std::string_view fix) {
    throw Failure(ExitCode::kUsage, what, fix);
  };
  if (options.texts.empty() != options.lines.has_value()) {
    refuse("texts come either as arguments or by --lines", "give one of the two");
  }
  const bool names_one = options.key || options.subject || options.version;
  if (names_one && options.texts.size() != 1) {
    refuse("--key, --subject and --version name one text", "give one text, or put them into lines");
  }
}

pgqueue::NewTask task_of(const std::string& text, const SubmitOptions& options) {
  pgqueue::NewTask task;
  task.kind = kTextKind;
  task.payload = text == "-" ? Input::open("-").read(kPayloadBytesMax + 1) : text;
  if (task.payload.size() > kPayloadBytesMax) {
    throw Failure(ExitCode::kFailure, "a text is longer than 2 MiB, nothing was submitted",
                  "leave it out; more than 1 MiB is never judged");
  }
  task.idempotency_key = options.key;
  task.subject_id = options.subject;
  task.subject_version = options.version;
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
        pool_({.conninfo = database_url(options.database), .connections_max = 2}),
        queue_(pool_, {}),
        hints_(std::getenv("MESSAGE_SAFETY_REDIS_URL")),
        submitter_(queue_, options.caller.value_or("safetyctl"), hints_,
                   [this](const auto& batch) { take(batch); }) {}

  ExitCode run() {
    try {
      options_.lines ? submit_lines() : submit_arguments();
    } catch (const Failure&) {
      // What was committed is told before the error that ended it.
      print_without_waiting();
      throw;
    }
    const auto decision = options_.wait ? wait() : std::optional<Decision>();
    print_summary();
    if (const auto conflicts = submitter_.counts().conflict; conflicts > 0) {
      throw Failure(ExitCode::kFailure,
                    std::to_string(conflicts) +
                        " tasks conflict: their key or subject version stands for another text",
                    "use a new key or a newer version");
    }
    if (tasks_without_verdict_ > 0) {
      throw Failure(ExitCode::kFailure,
                    std::to_string(tasks_without_verdict_) + " tasks have no verdict",
                    "look at them later with safetyctl task show, or give a longer --timeout");
    }
    return decision ? exit_code(*decision) : ExitCode::kOk;
  }

 private:
  void add(pgqueue::NewTask task) {
    if (!task.priority_class && options_.priority_class) {
      task.priority_class = static_cast<std::int16_t>(*options_.priority_class);
    }
    if (options_.wait && kept_.size() + submitter_.waiting() == kWaitedTasksMax) {
      throw Failure(
          ExitCode::kFailure, "--wait waits for 1,000,000 tasks and there are more",
          std::to_string(kept_.size()) + " tasks were submitted before; leave --wait out");
    }
    submitter_.add(std::move(task));
  }

  void submit_arguments() {
    std::vector<pgqueue::NewTask> tasks;
    for (const std::string& text : options_.texts) tasks.push_back(task_of(text, options_));
    for (pgqueue::NewTask& task : tasks) add(std::move(task));
    submitter_.flush();
  }

  void submit_lines() {
    Input input = Input::open(*options_.lines);
    LineReader reader(input, kLineBytesMax);
    Progress progress(std::cerr, "submitting", input.size(), Progress::on_terminal());
    progress_ = &progress;
    std::string_view line;
    while (true) {
      const LineReader::Next kind = reader.next(line);
      if (kind == LineReader::Next::kEnd) break;
      try {
        if (kind == LineReader::Next::kTooLong) throw SubmitLineError("the line: is too long");
        add(parse_submit_line(line));
      } catch (const SubmitLineError& error) {
        progress_ = nullptr;
        throw Failure(ExitCode::kFailure,
                      "line " + std::to_string(reader.line_number()) + ": " + error.what(),
                      "nothing of its batch was submitted, " +
                          std::to_string(submitter_.counts().submitted()) +
                          " tasks were submitted before");
      }
      progress.update(reader.bytes_read());
    }
    submitter_.flush();
    progress_ = nullptr;
  }

  // A batch was committed.
  void take(const std::vector<pgqueue::Submission>& batch) {
    if (options_.wait) {
      kept_.insert(kept_.end(), batch.begin(), batch.end());
      return;
    }
    if (progress_ != nullptr) progress_->clear();
    for (const pgqueue::Submission& submission : batch) print(submission);
    flush_output(std::cout);
  }

  void print(const pgqueue::Submission& submission) const {
    if (options_.json) {
      std::cout << to_line(submission_json(submission)) << '\n';
    } else {
      std::cout << submission.task_id.to_string() << "  " << to_string(submission.outcome) << '\n';
    }
  }

  void print_without_waiting() {
    for (const pgqueue::Submission& submission : kept_) print(submission);
    print_summary();
  }

  // The strongest decision of all tasks; nullopt when there is none.
  std::optional<Decision> wait() {
    TaskWait waiting(
        pool_, Deadline::after(std::chrono::seconds(options_.timeout.value_or(kTimeoutDefault))));
    Progress progress(std::cerr, "waiting", kept_.size(), Progress::on_terminal());
    std::optional<Decision> strongest;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      progress.update(i);
      if (kept_[i].outcome == pgqueue::SubmitOutcome::kConflict) {
        progress.clear();
        print(kept_[i]);
        continue;
      }
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
    const std::string decision = task ? task->decision.value_or("") : "";
    if (!options_.json) {
      std::cout << submission.task_id.to_string() << "  " << to_string(submission.outcome) << "  "
                << (task ? task->state : "unfinished") << "  " << shown(decision) << '\n';
    } else {
      Json json = submission_json(submission);
      if (task) {
        json.update(task_json(*task));
        json.erase("id");
      }
      std::cout << to_line(json) << '\n';
    }
    flush_output(std::cout);
  }

  void print_summary() {
    const Submitter::Counts& counts = submitter_.counts();
    const std::string hint(hints_.finish());
    if (options_.json) {
      std::cout << to_line({{"submitted", counts.submitted()},
                            {"created", counts.created},
                            {"duplicate", counts.duplicate},
                            {"conflict", counts.conflict},
                            {"superseded", counts.superseded},
                            {"hint", hint}})
                << '\n';
    } else {
      std::cout << counts.submitted() << " submitted: " << counts.created << " created, "
                << counts.duplicate << " duplicate, " << counts.superseded << " superseded; "
                << counts.conflict << " conflict; hint " << hint << '\n';
    }
    flush_output(std::cout);
  }

  const SubmitOptions& options_;
  pgqueue::Pool pool_;
  pgqueue::Queue queue_;
  HintSender hints_;
  Submitter submitter_;
  Progress* progress_ = nullptr;
  std::vector<pgqueue::Submission> kept_;
  std::uint64_t tasks_without_verdict_ = 0;
};

}  // namespace

void add_submit_command(CLI::App& app, Command& command) {
  CLI::App& group = add_group(app, "submit", "Put subjects into the queue");
  CLI::App& leaf =
      add_leaf(group, "text", "Submit texts; with --wait exits 0, 10 (block) or 11 like check",
               "safetyctl submit text --wait 'hello there'\n"
               "  safetyctl submit text --lines messages.jsonl --json\n"
               "A line is a JSON string or an object with text and any of key, subject_id,\n"
               "subject_version, class, fairness_bucket, run_after_ms, decide_within_ms.\n"
               "Workers are told over MESSAGE_SAFETY_REDIS_URL if it is set.");
  const auto options = std::make_shared<SubmitOptions>();
  add_operands(leaf, "TEXT", options->texts, "Texts; - reads one from standard input");
  add_string(leaf, "--lines", options->lines, "Submit the lines of this file; - standard input");
  add_string(leaf, "--caller", options->caller, "The registered caller (safetyctl)");
  add_string(leaf, "--key", options->key, "Idempotency key of the one text");
  add_string(leaf, "--subject", options->subject, "Subject id of the one text, with --version");
  add_integer(leaf, "--version", kVersionRange, options->version, "Version of the subject");
  add_integer(leaf, "--class", kClassRange, options->priority_class,
              "Priority class, 0 is the most urgent (1)");
  add_flag(leaf, "--wait", options->wait, "Wait until every task is finished");
  add_integer(leaf, "--timeout", kTimeoutRange, options->timeout, "Seconds to wait (60)");
  add_database_option(leaf, options->database);
  add_json_flag(leaf, options->json);
  leaf.callback([options, &command] {
    command.run = [options] {
      check_usage(*options);
      return SubmitRun(*options).run();
    };
  });
}

}  // namespace han::safety
