#include "safety/doctor/key_survey.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "cache/key.h"
#include "cache/key_scan.h"
#include "cache/ttl_cap.h"

namespace han::safety {
namespace {

using cache::Reply;

constexpr std::string_view kPrefix = "han:safety:";
// Words that a name of task or lease state has in it, as this product and its legacy stub had them.
constexpr std::string_view kStateWords[] = {"task",  "tasks",  "lease", "leases", "lock", "locks",
                                            "queue", "queues", "claim", "claims", "job",  "jobs",
                                            "stub",  "holder", "retry", "pending"};

constexpr std::string_view kTtl = "redis.keys.ttl";
constexpr std::string_view kTtlCap = "redis.keys.ttl_cap";
constexpr std::string_view kForeign = "redis.keys.foreign";
constexpr std::string_view kMalformed = "redis.keys.malformed";
constexpr std::string_view kState = "redis.keys.state";
constexpr std::string_view kType = "redis.keys.type";
constexpr std::string_view kTarget = "redis.keys.value_target";
constexpr std::string_view kLimit = "redis.keys.value_limit";
constexpr std::string_view kAll[] = {kTtl,   kTtlCap, kForeign, kMalformed,
                                     kState, kType,   kTarget,  kLimit};

bool is_letter(char byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'; }

bool speaks_of_state(std::string_view key) {
  std::string word;
  for (std::size_t i = 0; i <= key.size(); ++i) {
    if (i < key.size() && is_letter(key[i])) {
      word += static_cast<char>(key[i] | 0x20);
      continue;
    }
    if (std::ranges::find(kStateWords, word) != std::end(kStateWords)) return true;
    word.clear();
  }
  return false;
}

// One key by the answers to TYPE, PTTL and STRLEN.
void count(const std::string& key, std::span<const Reply> answers, const DoctorOptions& options,
           KeyFigures& figures) {
  const std::int64_t ttl_ms = answers[1].integer;
  if (ttl_ms == cache::kPttlNoKey) return;  // it ended between the scan and now
  ++figures.keys;
  if (ttl_ms == cache::kPttlNoTtl) ++figures.without_ttl;
  switch (sort_of_key(key)) {
    case KeySort::kOurs: {
      const auto parsed = cache::parse_key(key);
      if (parsed && ttl_ms > cache::ttl_cap(parsed->kind).count()) ++figures.above_ttl_cap;
      if (!answers[0].is_status("string")) ++figures.no_string;
      break;
    }
    case KeySort::kState:
      ++figures.state;
      break;
    case KeySort::kMalformed:
      ++figures.malformed;
      break;
    case KeySort::kForeign:
      ++figures.foreign;
      break;
  }
  if (answers[2].is_error()) return;
  const std::int64_t size = answers[2].integer;
  figures.longest_value = std::max(figures.longest_value, size);
  if (size > static_cast<std::int64_t>(options.value_bytes_max)) {
    ++figures.above_limit;
  } else if (size > static_cast<std::int64_t>(options.value_bytes_target)) {
    ++figures.above_target;
  }
}

// Empty: all answered. A value of another type has no STRLEN, which is no reason.
std::string refusal(std::span<const Reply> answers) {
  for (const Reply& answer : answers) {
    if (answer.is_error() && answer.error != cache::ErrorClass::kWrongtype) {
      return std::string("the user may not TYPE, PTTL and STRLEN all keys: ")
          .append(cache::error_name(answer.error));
    }
  }
  return "";
}

std::string look_at(cache::Connection& connection, const std::vector<std::string>& keys,
                    const DoctorOptions& options, KeyFigures& figures) {
  constexpr std::size_t kQuestions = 3;
  if (keys.empty()) return "";
  cache::CommandBuffer commands;
  for (const std::string& key : keys) {
    commands.add({"TYPE", key});
    commands.add({"PTTL", key});
    commands.add({"STRLEN", key});
  }
  const auto result = connection.call(commands, options.deadline());
  if (result.trouble != cache::Trouble::kNone) {
    return std::string("the connection failed: ").append(cache::trouble_name(result.trouble));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::span answers(result.replies.data() + i * kQuestions, kQuestions);
    if (auto reason = refusal(answers); !reason.empty()) return reason;
    count(keys[i], answers, options, figures);
  }
  return "";
}

std::uint64_t database_size(cache::Connection& connection, const DoctorOptions& options) {
  cache::CommandBuffer commands;
  commands.add({"DBSIZE"});
  const auto result = connection.call(commands, options.deadline());
  if (result.replies.empty() || result.replies[0].is_error()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(result.replies[0].integer, 0));
}

}  // namespace

KeySort sort_of_key(std::string_view key) {
  if (cache::parse_key(key)) return KeySort::kOurs;
  if (speaks_of_state(key)) return KeySort::kState;
  return key.starts_with(kPrefix) ? KeySort::kMalformed : KeySort::kForeign;
}

KeyFigures survey_keys(cache::Connection& connection, const DoctorOptions& options) {
  KeyFigures figures;
  const std::uint64_t total = options.on_progress ? database_size(connection, options) : 0;
  cache::KeyScan scan(connection, {.keys_per_second = options.keys_per_second});
  std::uint64_t seen = 0;
  while (!scan.is_over() && figures.cut_short.empty()) {
    const cache::KeyPage page = scan.next(options.deadline());
    if (!page.is_ok()) {
      figures.cut_short =
          page.error != cache::ErrorClass::kNone
              ? std::string("the user may not SCAN: ").append(cache::error_name(page.error))
              : std::string("the connection failed: ").append(cache::trouble_name(page.trouble));
      break;
    }
    // A name that is too long to be read is none of ours.
    figures.keys += page.nameless;
    figures.foreign += page.nameless;
    figures.cut_short = look_at(connection, page.keys, options, figures);
    seen += page.keys.size() + page.nameless;
    if (options.on_progress) options.on_progress(seen, std::max(total, seen));
  }
  return figures;
}

void judge_keys(const KeyFigures& figures, const DoctorOptions& options, Diagnoses& diagnoses) {
  const auto judge = [&](std::string_view check, std::uint64_t count, std::string_view what,
                         std::string fix) {
    const std::string seen = std::to_string(count) + " of " + std::to_string(figures.keys) +
                             " keys " + std::string(what);
    if (count == 0 && !figures.cut_short.empty()) {
      diagnoses.not_checked(check, figures.cut_short);
    } else {
      diagnoses.judge(count == 0, check, seen, std::move(fix));
    }
  };
  const std::string repair = "safetyctl replay verify --repair deletes them; find what wrote them";
  const std::string repair_ours =
      "safetyctl replay verify --repair deletes those of our formats and leaves all others: find "
      "what wrote them";
  judge(kTtl, figures.without_ttl, "have no time to live", repair_ours);
  judge(kTtlCap, figures.above_ttl_cap, "live longer than their kind may", repair);
  judge(kForeign, figures.foreign, "are outside han:safety:",
        "give the service that writes them a Redis of its own; users of this one see their prefix "
        "only");
  judge(kMalformed, figures.malformed, "are below han:safety: but of no known form",
        "find the program that writes them: an old version, or none of ours");
  judge(kState, figures.state, "look like task, lease or queue state",
        "PostgreSQL is the only queue: take the legacy stub, or whatever writes them, away and "
        "delete them");
  judge(kType, figures.no_string, "of ours are no strings", repair);
  judge(kTarget, figures.above_target,
        "have a value above the target of " + std::to_string(options.value_bytes_target) +
            " bytes (the longest has " + std::to_string(figures.longest_value) + ")",
        "look for rules that hit too often: a value lists the rules that hit");
  judge(kLimit, figures.above_limit,
        "have a value above the limit of " + std::to_string(options.value_bytes_max) + " bytes",
        "no reader takes them: " + repair_ours);
}

void skip_keys(const std::string& reason, Diagnoses& diagnoses) {
  for (const std::string_view check : kAll) diagnoses.not_checked(check, reason);
}

}  // namespace han::safety
