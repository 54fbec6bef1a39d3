#include "safety/apps/ctl/replay_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

#include "pgqueue/error.h"
#include "safety/apps/ctl/arguments.h"
#include "safety/apps/ctl/database.h"
#include "safety/apps/ctl/pepper_file.h"
#include "safety/apps/ctl/progress.h"
#include "safety/apps/ctl/redis.h"
#include "safety/apps/ctl/replay_output.h"
#include "safety/apps/ctl/stop_signal.h"
#include "safety/config.h"
#include "safety/replay/pepper_trial.h"

namespace han::safety {
namespace {

constexpr ArgumentRange kRateRange{1, 100'000'000};
// A value over the limit is dropped while it arrives, however long: Redis takes 512 MiB.
constexpr cache::ReplyLimits kScanLimits{.value_bytes_max = cache::kValueBytesMax,
                                         .dropped_bytes_max = std::size_t{1} << 30,
                                         .call_bytes_max = std::size_t{4} << 30};
constexpr std::chrono::milliseconds kSaveInterval{500};
// Of a progress bar.
constexpr std::uint64_t kParts = 10'000;

// What both commands take.
struct ReplayOptions {
  std::optional<std::string> config;
  std::optional<std::string> peppers;
  std::optional<std::int64_t> rate;
  DatabaseOptions database;
};

struct RebuildCommandOptions {
  ReplayOptions replay;
  std::optional<std::string> from;
  std::optional<std::string> state;
  bool dry_run = false;
};

struct VerifyCommandOptions {
  ReplayOptions replay;
  bool repair = false;
};

void add_replay_options(CLI::App& leaf, ReplayOptions& options, const std::string& rate) {
  add_string(leaf, "--config", options.config, "Config file whose times to live count");
  add_pepper_option(leaf, options.peppers);
  add_integer(leaf, "--rate", kRateRange, options.rate, rate);
  add_database_options(leaf, options.database);
}

cache::HotTtls ttls_of(const ReplayOptions& options) {
  const Config config = options.config ? load_config(*options.config) : default_config();
  return cache::HotTtls::of_config(config.ttl.text, config.ttl.file, config.ttl.link,
                                   config.ttl.dns);
}

// Everything that both commands judge by.
struct Judges {
  explicit Judges(const ReplayOptions& options)
      : peppers(named_peppers(options.peppers)),
        reader(peppers ? &*peppers : nullptr),
        judge(reader, ttls_of(options)) {
    if (peppers) return;
    std::cerr << "safetyctl: no pepper file is named: no proof is checked, every pepper counts as "
                 "known\n";
  }
  Judges(const Judges&) = delete;
  Judges& operator=(const Judges&) = delete;

  const std::optional<PepperSet> peppers;
  const EntryReader reader;
  const RowJudge judge;
};

constexpr const char* kPepperDoubt = "is it the workers' MESSAGE_SAFETY_PEPPER_FILE?";

// "no entry has a proof of this pepper file (pepper p1)".
std::string doubt_words(const std::vector<std::string>& labels) {
  std::string all;
  for (const std::string& label : labels) all += (all.empty() ? "" : ", ") + printable(label);
  return "no entry has a proof of this pepper file (pepper " + all + ")";
}

void warn(const std::string& what) { std::cerr << "safetyctl: " << what << '\n'; }

class RebuildRun {
 public:
  explicit RebuildRun(const RebuildCommandOptions& given)
      : given_(given),
        judges_(given.replay),
        options_(rebuild_options(given)),
        database_(connect_database(given.replay.database)),
        redis_(connect_redis(kRedisUrl)),
        progress_(std::cerr, "rebuilding", kParts, Progress::on_terminal()),
        rebuild_(database_, *redis_, judges_.judge, options_,
                 {.begin_anew = [] { tell_begin_anew(); },
                  .progress = [this](const auto& kind, double share,
                                     std::uint64_t rows) { show(kind, share, rows); },
                  .wait = [this](Deadline until) { return wait(until); }}) {}

  ExitCode run() {
    check_peppers();
    RebuildEnd end;
    try {
      end = rebuild_.run();
    } catch (const pgqueue::Error& error) {
      print(false);
      const Failure failure = database_failure(error);
      throw Failure(failure.code(), failure.what(), go_on());
    }
    const bool is_done = end.reason == RebuildEnd::Reason::kDone;
    if (is_done && given_.state && !options_.is_dry_run) remove_place(*given_.state);
    print(is_done);
    warn_of_unproven();
    if (is_done) return ExitCode::kOk;
    if (end.reason == RebuildEnd::Reason::kStopped) {
      throw Failure(ExitCode::kFailure, "stopped by a signal", go_on());
    }
    const Failure failure = redis_failure(end.trouble, end.error);
    throw Failure(failure.code(), failure.what(), go_on());
  }

 private:
  static RebuildOptions rebuild_options(const RebuildCommandOptions& given) {
    RebuildOptions options;
    options.is_dry_run = given.dry_run;
    if (given.replay.rate) options.rows_per_second = static_cast<std::uint64_t>(*given.replay.rate);
    if (given.state && !given.dry_run) {
      try {
        check_writable_place(*given.state);
      } catch (const PlaceError& error) {
        throw Failure(ExitCode::kUsage, error.what(), "name a file in a folder of yours");
      }
    }
    if (given.from) {
      options.from = PlaceToken::parse(*given.from);
      if (!options.from) {
        throw Failure(ExitCode::kUsage, "--from is no place that rebuild has printed",
                      "copy it, for example text:9f3ac210, or leave it out");
      }
    } else if (given.state) {
      try {
        options.from = read_place(*given.state);
        options.is_from_checked = true;
      } catch (const PlaceError& error) {
        throw Failure(ExitCode::kUsage, error.what(), "name another file, or remove it");
      }
    }
    return options;
  }

  // Before the first write and the first place that is kept.
  void check_peppers() {
    const PepperTrial trial = try_peppers(database_, judges_.reader);
    if (trial.unproven == 0 || trial.proven > 0) return;
    throw Failure(ExitCode::kFailure, doubt_words(trial.doubted),
                  std::string(kPepperDoubt) + " nothing was written");
  }

  void warn_of_unproven() const {
    const auto unproven = rebuild_.total().of(RowOutcome::kUnproven);
    if (unproven == 0) return;
    warn("rows without a proof of this pepper file: " + std::to_string(unproven) + ": " +
         kPepperDoubt);
  }

  static void tell_begin_anew() {
    std::cerr << "safetyctl: Redis has lost what the run of the state file wrote: beginning anew\n";
  }

  void show(const std::string& kind, double share, std::uint64_t rows) {
    static_cast<void>(kind);
    progress_.update(static_cast<std::uint64_t>(share * kParts), rows);
  }

  // Called after each batch, so the place is that of what Redis has.
  bool wait(Deadline until) {
    save(system_clock().now() >= next_save_);
    return until.has_passed() ? stop_.has_come() : stop_.wait(until);
  }

  void save(bool is_due) {
    if (!given_.state || options_.is_dry_run || !is_due || !rebuild_.place()) return;
    next_save_ = system_clock().now() + kSaveInterval;
    try {
      write_place(*given_.state, *rebuild_.place());
    } catch (const PlaceError& error) {
      throw Failure(ExitCode::kFailure, error.what(), go_on());
    }
  }

  void print(bool is_complete) {
    progress_.clear();
    if (!is_complete) save(true);
    print_answer(given_.replay.database.json, rebuild_json(rebuild_, options_, is_complete),
                 rebuild_table(rebuild_, options_));
  }

  std::string go_on() const {
    if (!rebuild_.place()) return "nothing is done yet: run it again";
    if (given_.state) return "run it again with the same --state to go on";
    return "go on with --from " + rebuild_.place()->str() + ", or run it again";
  }

  const RebuildCommandOptions& given_;
  const Judges judges_;
  const RebuildOptions options_;
  StopSignal stop_;
  pgqueue::Connection database_;
  std::unique_ptr<cache::Connection> redis_;
  Progress progress_;
  Clock::SteadyTime next_save_ = system_clock().now() + kSaveInterval;
  Rebuild rebuild_;
};

ExitCode rebuild(const RebuildCommandOptions& options) { return RebuildRun(options).run(); }

class VerifyRun {
 public:
  explicit VerifyRun(const VerifyCommandOptions& given)
      : given_(given),
        judges_(given.replay),
        options_(verify_options(given)),
        database_(connect_database(given.replay.database)),
        lookups_(connect_database(given.replay.database)),
        scan_(connect_redis_if_named(kRedisOpsUrl, kScanLimits)),
        // Without a scan the workers' user reads, and only it may delete.
        worker_(!scan_ || given.repair ? connect_redis(kRedisUrl, kScanLimits) : nullptr),
        verify_({database_, lookups_, scan_.get(), worker_.get()}, judges_.reader, judges_.judge,
                options_,
                {.progress = [this](const auto& step, double share,
                                    std::uint64_t done) { show(step, share, done); },
                 .wait =
                     [this](Deadline until) {
                       return until.has_passed() ? stop_.has_come() : stop_.wait(until);
                     }}) {}

  ExitCode run() {
    check_peppers();
    VerifyEnd end;
    try {
      end = verify_.run();
    } catch (const pgqueue::Error&) {
      print_part();
      throw;
    }
    progress_.reset();
    if (end.reason == VerifyEnd::Reason::kRedis) {
      print_part();
      throw redis_failure(end.redis.trouble, end.redis.error);
    }
    if (end.reason == VerifyEnd::Reason::kStopped) {
      print(false);
      throw Failure(ExitCode::kFailure, "stopped by a signal", "run it again");
    }
    print(true);
    return verify_.report().findings == 0 ? ExitCode::kOk : ExitCode::kFindings;
  }

 private:
  static VerifyOptions verify_options(const VerifyCommandOptions& given) {
    VerifyOptions options;
    options.is_repair = given.repair;
    if (given.replay.rate) options.keys_per_second = static_cast<std::uint32_t>(*given.replay.rate);
    return options;
  }

  // With another secret under the same label all good values look forged.
  void check_peppers() {
    const PepperTrial trial = try_peppers(database_, judges_.reader);
    if (trial.doubted.empty()) return;
    if (options_.is_repair) {
      throw Failure(ExitCode::kFailure, doubt_words(trial.doubted),
                    std::string(kPepperDoubt) + " nothing was deleted");
    }
    warn(doubt_words(trial.doubted) + ": " + kPepperDoubt);
  }

  void show(const std::string& step, double share, std::uint64_t done) {
    if (step != shown_) {
      progress_ = std::make_unique<Progress>(std::cerr, "verifying " + step, kParts,
                                             Progress::on_terminal());
      shown_ = step;
    }
    progress_->update(static_cast<std::uint64_t>(share * kParts), done);
  }

  // What was looked at before a server failed, if anything was.
  void print_part() {
    progress_.reset();
    if (verify_.report().total().keys > 0 || verify_.report().rows > 0) print(false);
  }

  void print(bool is_complete) {
    const VerifyReport& report = verify_.report();
    const bool as_json = given_.replay.database.json;
    print_answer(as_json, verify_json(report, options_, is_complete), verify_table(report));
    if (as_json) return;
    std::cout << verify_words(report, options_, is_complete);
    flush_output(std::cout);
  }

  const VerifyCommandOptions& given_;
  const Judges judges_;
  const VerifyOptions options_;
  const StopSignal stop_;
  pgqueue::Connection database_;
  pgqueue::Connection lookups_;
  const std::unique_ptr<cache::Connection> scan_;
  const std::unique_ptr<cache::Connection> worker_;
  std::unique_ptr<Progress> progress_;
  std::string shown_;
  Verify verify_;
};

ExitCode verify(const VerifyCommandOptions& options) { return VerifyRun(options).run(); }

}  // namespace

void add_replay_command(CLI::App& app, Command& command) {
  CLI::App& group = add_group(app, "replay", "Make the caches anew, or compare them",
                              "safetyctl replay verify --json");
  CLI::App& first = add_leaf(
      group, "rebuild", "Warm Redis with PostgreSQL's verdicts, and never over a value",
      "safetyctl replay rebuild --state /var/tmp/rebuild --rate 20000\n"
      "It is safe while workers run. One that was stopped or killed goes on where it was with the\n"
      "same --state, or with the --from that it printed; a second run changes nothing. Rows whose\n"
      "time is over, of a retired pepper, or whose evidence is not sound are counted and left "
      "out.\n"
      "Redis is that of MESSAGE_SAFETY_REDIS_URL.");
  const auto options = std::make_shared<RebuildCommandOptions>();
  add_flag(first, "--dry-run", options->dry_run, "Count what would be written, and write nothing");
  add_string(first, "--state", options->state, "Keep the place in this file, and go on from it");
  add_string(first, "--from", options->from, "Go on from this place");
  add_replay_options(first, options->replay, "Rows a second, at most (50000)");
  set_run(first, command, options, rebuild);

  CLI::App& second = add_leaf(
      group, "verify", "Compare what Redis holds with PostgreSQL's verdicts",
      "safetyctl replay verify --repair\n"
      "Keys are scanned by the user of MESSAGE_SAFETY_REDIS_OPS_URL; without it only keys that\n"
      "PostgreSQL names are looked at. --repair deletes, if they are still as they were seen, "
      "keys\n"
      "that are wrong, foreign (of another subject), oversized, no string, without a TTL or with\n"
      "one above the cap of their kind; a rebuild brings them back.\n"
      "Exits 3 when a key is wrong, foreign, without a TTL or no cache entry, and was not "
      "repaired.",
      kFindingsCode);
  const auto verify_options = std::make_shared<VerifyCommandOptions>();
  add_flag(second, "--repair", verify_options->repair, "Delete what must not be there");
  add_replay_options(second, verify_options->replay, "Keys a second, at most (no bound)");
  set_run(second, command, verify_options, verify);
}

}  // namespace han::safety
