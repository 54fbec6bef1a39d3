#include "safety/apps/ctl/line_load.h"

#include <iostream>
#include <utility>

#include "safety/apps/ctl/failure.h"
#include "safety/apps/ctl/json_string.h"
#include "safety/apps/ctl/submit_line.h"

namespace han::safety {
namespace {

// A text of 2 MiB needs at most six times as much when each byte is escaped; the rest are keys.
constexpr std::size_t kLineBytesMax = 6 * kPayloadBytesMax + 64 * 1024;

std::string line_name(std::uint64_t number) { return "line " + std::to_string(number); }

}  // namespace

LineLoad::LineLoad(LineLoadOptions options, Submitter& submitter, const StopSignal& stop,
                   Progress::Shown progress)
    : options_(std::move(options)),
      submitter_(submitter),
      stop_(stop),
      input_(Input::open(options_.path)),
      progress_(std::cerr, "submitting", input_.size(), progress) {
  input_.end_on(stop_.fd());
}

void LineLoad::run() {
  LineReader reader(input_, kLineBytesMax);
  skip_lines(reader);
  try {
    while (!stop_.has_come() && load_line(reader)) {
      progress_.update(reader.bytes_read(), last_line_);
    }
    if (!stop_.has_come()) submitter_.flush();
  } catch (const SubmitLineError& error) {
    throw Failure(ExitCode::kFailure, line_name(reader.line_number()) + ": " + error.what(),
                  resume_hint());
  } catch (const SubmitFailure& failure) {
    throw Failure(ExitCode::kFailure, failure.cause(), resume_hint() + doubt(failure));
  }
  progress_.clear();
  if (stop_.has_come()) throw Failure(ExitCode::kFailure, "stopped by a signal", resume_hint());
}

std::string LineLoad::doubt(const SubmitFailure& failure) const {
  if (!failure.in_doubt()) return "";
  const std::string line = std::to_string(batch_lines_[failure.batch_tasks() - 1]);
  return "; but lines up to " + line + " are submitted if there is a task " +
         failure.in_doubt()->to_string() + " (with --keys there is never a doubt)";
}

void LineLoad::skip_lines(LineReader& reader) {
  std::string_view line;
  while (reader.line_number() < options_.skip && reader.next(line) != LineReader::Next::kEnd) {
  }
  if (reader.line_number() < options_.skip && !stop_.has_come()) {
    throw Failure(ExitCode::kFailure,
                  "the input has " + std::to_string(reader.line_number()) + " lines",
                  "give --skip what the run before said");
  }
  last_line_ = reader.line_number();
}

bool LineLoad::load_line(LineReader& reader) {
  std::string_view line;
  switch (reader.next(line)) {
    case LineReader::Next::kEnd:
      return false;
    case LineReader::Next::kTooLong:
      throw SubmitLineError("the line: is too long, a text has at most 2 MiB");
    case LineReader::Next::kLine:
      break;
  }
  if (line.find_first_not_of(kJsonSpace) != std::string_view::npos) {
    add(line, reader.line_number());
  }
  return true;
}

void LineLoad::add(std::string_view line, std::uint64_t number) {
  pgqueue::NewTask task = parse_submit_line(line, options_.kind);
  if (!task.priority_class) task.priority_class = options_.priority_class;
  if (!task.idempotency_key && options_.key_prefix) {
    task.idempotency_key = *options_.key_prefix + "-" + std::to_string(number);
  }
  // The batch before may be committed in add(); this line is not of it, but stands behind it.
  batch_lines_.push_back(number);
  submitter_.add(std::move(task));
}

void LineLoad::note_committed(const std::vector<pgqueue::Submission>& batch) {
  for (std::size_t i = 0; i < batch.size() && !first_conflict_; ++i) {
    if (batch[i].outcome == pgqueue::SubmitOutcome::kConflict) first_conflict_ = batch_lines_[i];
  }
  last_line_ = batch_lines_[batch.size() - 1];
  batch_lines_.erase(batch_lines_.begin(),
                     batch_lines_.begin() + static_cast<std::ptrdiff_t>(batch.size()));
}

void LineLoad::clear_progress() { progress_.clear(); }

std::string LineLoad::resume_hint() const {
  const std::string line = std::to_string(last_line_);
  if (last_line_ == 0) return "no line was submitted";
  return "lines up to " + line + " are submitted and none after, go on with --skip " + line;
}

}  // namespace han::safety
