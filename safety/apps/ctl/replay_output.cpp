#include "safety/apps/ctl/replay_output.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace han::safety {
namespace {

constexpr std::array<RowOutcome, kRowOutcomeCount - 1> kSkipped = {
    RowOutcome::kExpired,     RowOutcome::kRetiredPepper, RowOutcome::kNewerSchema,
    RowOutcome::kUndecodable, RowOutcome::kForeign,       RowOutcome::kUnproven,
    RowOutcome::kOversized,   RowOutcome::kKeyless};

constexpr std::array<cache::KeyKind, kKeyKindCount> kKinds = {
    cache::KeyKind::kText, cache::KeyKind::kVerdict, cache::KeyKind::kLink, cache::KeyKind::kDns,
    cache::KeyKind::kRate};

Json counts_json(const RebuildCounts& counts) {
  Json json = {{"rows", counts.rows},
               {"written", counts.written},
               {"present", counts.present},
               {"duplicate", counts.duplicate}};
  for (const RowOutcome outcome : kSkipped) {
    json[std::string(outcome_name(outcome))] = counts.of(outcome);
  }
  return json;
}

struct VerifyField {
  const char* name;
  std::uint64_t VerifyCounts::*count;
};
constexpr std::array<VerifyField, 13> kFields = {{{"keys", &VerifyCounts::keys},
                                                  {"right", &VerifyCounts::right},
                                                  {"missing", &VerifyCounts::missing},
                                                  {"stale", &VerifyCounts::stale},
                                                  {"wrong", &VerifyCounts::wrong},
                                                  {"undecodable", &VerifyCounts::undecodable},
                                                  {"unbacked", &VerifyCounts::unbacked},
                                                  {"foreign", &VerifyCounts::foreign},
                                                  {"oversized", &VerifyCounts::oversized},
                                                  {"ttl_less", &VerifyCounts::ttl_less},
                                                  {"newer_schema", &VerifyCounts::newer_schema},
                                                  {"not_string", &VerifyCounts::not_string},
                                                  {"repaired", &VerifyCounts::repaired}}};

Json counts_json(const VerifyCounts& counts) {
  Json json = Json::object();
  for (const auto& [name, count] : kFields) json[name] = counts.*count;
  return json;
}

}  // namespace

Json rebuild_json(const Rebuild& rebuild, const RebuildOptions& options, bool is_complete) {
  Json json = counts_json(rebuild.total());
  json["dry_run"] = options.is_dry_run;
  json["complete"] = is_complete;
  json["began_at"] = rebuild.began_at() ? Json(rebuild.began_at()->str()) : Json();
  const bool has_place = !is_complete && rebuild.place();
  json["from"] = has_place ? Json(rebuild.place()->str()) : Json();
  json["kinds"] = Json::object();
  for (const auto& [kind, counts] : rebuild.counts()) json["kinds"][kind] = counts_json(counts);
  return json;
}

RowTable rebuild_table(const Rebuild& rebuild, const RebuildOptions& options) {
  std::vector<std::string> head = {"kind", "rows", options.is_dry_run ? "would write" : "written",
                                   "present", "duplicate"};
  for (const RowOutcome outcome : kSkipped) {
    std::string word(outcome_name(outcome));
    std::replace(word.begin(), word.end(), '_', ' ');
    head.push_back(std::move(word));
  }
  RowTable table(std::move(head));
  const auto add = [&](const std::string& kind, const RebuildCounts& counts) {
    std::vector<std::string> row = {kind};
    for (const auto count : {counts.rows, counts.written, counts.present, counts.duplicate}) {
      row.push_back(std::to_string(count));
    }
    for (const RowOutcome outcome : kSkipped) row.push_back(std::to_string(counts.of(outcome)));
    table.add(std::move(row));
  };
  for (const auto& [kind, counts] : rebuild.counts()) add(printable(kind), counts);
  add("all", rebuild.total());
  return table;
}

Json verify_json(const VerifyReport& report, const VerifyOptions& options, bool is_complete) {
  Json json = counts_json(report.total());
  json["state"] = report.state();
  json["rows"] = report.rows;
  json["scanned"] = report.is_scanned;
  json["repair"] = options.is_repair;
  json["complete"] = is_complete;
  json["findings"] = report.findings;
  json["kinds"] = Json::object();
  for (const auto kind : kKinds) {
    json["kinds"][std::string(cache::kind_name(kind))] = counts_json(report.of(kind));
  }
  return json;
}

RowTable verify_table(const VerifyReport& report) {
  std::vector<std::string> head = {"kind"};
  for (const auto& field : kFields) {
    std::string word(field.name);
    std::replace(word.begin(), word.end(), '_', ' ');
    head.push_back(std::move(word));
  }
  RowTable table(std::move(head));
  const auto add = [&](std::string_view kind, const VerifyCounts& counts) {
    std::vector<std::string> row = {std::string(kind)};
    for (const auto& [name, count] : kFields) row.push_back(std::to_string(counts.*count));
    table.add(std::move(row));
  };
  for (const auto kind : kKinds) add(cache::kind_name(kind), report.of(kind));
  add("all", report.total());
  return table;
}

std::string verify_words(const VerifyReport& report, const VerifyOptions& options,
                         bool is_complete) {
  std::string words =
      std::to_string(report.rows) +
      " verdict rows; state (keys that are no cache entry): " + std::to_string(report.state()) +
      "; scan: ";
  if (!report.is_scanned) {
    words +=
        "not done, only keys that PostgreSQL names were looked at "
        "(set MESSAGE_SAFETY_REDIS_OPS_URL)";
  } else {
    words += is_complete ? "done" : "begun";
  }
  words += '\n';
  if (!is_complete) words += "incomplete: these are the counts up to where it ended\n";
  if (report.findings == 0) return words;
  // What a repair leaves is none of our formats.
  return words +
         (options.is_repair
              ? "fix: safetyctl doctor, then find what writes keys that are no cache entry\n"
              : "fix: safetyctl replay verify --repair, then safetyctl replay rebuild\n");
}

}  // namespace han::safety
