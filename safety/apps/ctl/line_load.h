// LineLoad: the lines of a file as tasks, in bounded memory, resumable.
//
// Lines are submitted in order, so that one number says what is done: everything up to
// last_line(), and nothing behind it. Lines of white space are passed over.
//
// Threads: one thread. Owns: nothing; the submitter must outlive it.
// Blocks:  run() until the input has ended and all is submitted.
// Fails:   run() throws Failure, which says up to which line all is submitted and how to go on.
// Limits:  one batch of the submitter and one line in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "safety/apps/ctl/input.h"
#include "safety/apps/ctl/progress.h"
#include "safety/apps/ctl/stop_signal.h"
#include "safety/apps/ctl/submitter.h"

namespace han::safety {

struct LineLoadOptions {
  std::string path;        // "-" is standard input
  std::uint64_t skip = 0;  // lines that were submitted before
  // A line without a key has this, a dash and the line's number for one.
  std::optional<std::string> key_prefix;
  std::optional<std::int16_t> priority_class;  // of lines that say none
  std::string kind;
};

class LineLoad {
 public:
  LineLoad(LineLoadOptions options, Submitter& submitter, const StopSignal& stop,
           Progress::Shown progress);

  void run();
  // To be called when the submitter has committed a batch, before anything that may fail.
  void note_committed(const std::vector<pgqueue::Submission>& batch);
  // Before something else is written to the terminal.
  void clear_progress();

  std::uint64_t last_line() const { return last_line_; }
  std::optional<std::uint64_t> first_conflict() const { return first_conflict_; }
  // How to go on behind last_line().
  std::string resume_hint() const;

 private:
  void skip_lines(LineReader& reader);
  bool load_line(LineReader& reader);
  void add(std::string_view line, std::uint64_t number);
  std::string doubt(const SubmitFailure& failure) const;

  const LineLoadOptions options_;
  Submitter& submitter_;
  const StopSignal& stop_;
  Input input_;
  Progress progress_;
  std::vector<std::uint64_t> batch_lines_;  // of the tasks that are not committed yet
  std::uint64_t last_line_ = 0;
  std::optional<std::uint64_t> first_conflict_;
};

}  // namespace han::safety
