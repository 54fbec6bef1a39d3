#include "safety/apps/ctl/queue_view.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "safety/apps/ctl/progress.h"

namespace han::safety {
namespace {

using pgqueue::QueueStats;

// Of what is ready the rest waits; both stop counting at the bound.
std::int64_t waiting(const QueueStats& stats) {
  return std::max<std::int64_t>(stats.ready - stats.leased, 0);
}

// "12,345".
std::string grouped(std::int64_t value) {
  std::string text = std::to_string(value);
  const std::size_t first = text.front() == '-' ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string count_text(std::int64_t value, bool is_bounded) {
  return grouped(value) + (is_bounded ? "+" : "");
}

std::string one_decimal(double value) {
  const auto tenths = static_cast<std::int64_t>(std::lround(value * 10));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

std::string rate_text(const std::optional<QueueRates>& rates, double QueueRates::*rate) {
  if (!rates) return "-";
  return grouped(static_cast<std::int64_t>(std::llround(*rates.*rate))) + "/s";
}

std::string kinds_text(const std::vector<pgqueue::PausedKind>& kinds) {
  std::string text;
  for (const auto& kind : kinds) text += (text.empty() ? "" : ", ") + kind.kind;
  return text;
}

// The counts that every form shows, each with its name.
std::vector<std::pair<std::string, std::string>> counts(const QueueStats& stats) {
  const auto count = [&stats](std::int64_t value) {
    return count_text(value, value >= stats.bound);
  };
  return {{"waiting", count_text(waiting(stats), stats.ready >= stats.bound)},
          {"leased", count_text(stats.leased, stats.ready >= stats.bound)},
          {"delayed", count(stats.delayed)},
          {"paused", count(stats.paused)},
          {"suspects", count(stats.suspects)},
          {"oldest", age_text(stats.oldest_ms)}};
}

// The names of the counts that stopped at the bound: there is that much or more. Leased tasks are
// counted among the ready ones that were read.
Json capped(const QueueStats& stats) {
  Json names = Json::array();
  if (stats.ready >= stats.bound) names = {"ready", "leased"};
  if (stats.delayed >= stats.bound) names.push_back("delayed");
  if (stats.paused >= stats.bound) names.push_back("paused");
  if (stats.suspects >= stats.bound) names.push_back("suspects");
  if (stats.default_partition_rows >= stats.bound) names.push_back("default_partition_rows");
  return names;
}

RowTable class_table(const QueueStats& stats) {
  RowTable table({"class", "lanes", "waiting", "oldest"});
  for (const auto& line : stats.classes) {
    table.add({std::to_string(line.priority_class), grouped(line.lanes),
               count_text(line.waiting, line.waiting >= stats.bound), age_text(line.oldest_ms)});
  }
  return table;
}

std::string storage_text(const QueueStats& stats) {
  std::string text = "dead rows " + grouped(stats.dead_tuples) + ", oldest snapshot " +
                     age_text(stats.snapshot_age_ms) + ", table " + size_text(stats.table_bytes) +
                     ", indexes " + size_text(stats.index_bytes);
  if (stats.default_partition_rows > 0) {
    text += ", rows in the default partition " + grouped(stats.default_partition_rows);
  }
  return text;
}

void append_lines(std::vector<std::string>& lines, const std::string& text) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
}

}  // namespace

std::string age_text(std::int64_t milliseconds) {
  constexpr std::int64_t kMinute = 60'000;
  if (milliseconds < kMinute) {
    const std::int64_t tenths = milliseconds / 100;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
  }
  return clock_text(std::chrono::seconds(milliseconds / 1000));
}

std::string size_text(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KB", "MB", "GB", "TB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return (unit == 0 ? std::to_string(bytes) : one_decimal(size)) + " " + std::string(kUnits[unit]);
}

std::optional<QueueRates> queue_rates(const QueueReading& now, const QueueReading* before) {
  if (before == nullptr || now.at <= before->at) return std::nullopt;
  const std::int64_t in = now.stats.rows_inserted - before->stats.rows_inserted;
  const std::int64_t out = now.stats.rows_deleted - before->stats.rows_deleted;
  if (in < 0 || out < 0) return std::nullopt;
  const double seconds = std::chrono::duration<double>(now.at - before->at).count();
  return QueueRates{static_cast<double>(in) / seconds, static_cast<double>(out) / seconds};
}

FieldTable queue_table(const QueueReading& now) {
  const QueueStats& stats = now.stats;
  FieldTable table;
  for (const auto& [name, value] : counts(stats)) table.add(name, value);
  for (const auto& line : stats.classes) {
    table.add("class " + std::to_string(line.priority_class),
              count_text(line.waiting, line.waiting >= stats.bound) + " waiting in " +
                  grouped(line.lanes) + " lanes, oldest " + age_text(line.oldest_ms));
  }
  table.add("paused kinds", kinds_text(now.paused_kinds));
  table.add("rows, estimated", grouped(stats.rows_estimate));
  table.add("dead rows", grouped(stats.dead_tuples));
  table.add("oldest snapshot", age_text(stats.snapshot_age_ms));
  table.add("table", size_text(stats.table_bytes));
  table.add("indexes", size_text(stats.index_bytes));
  table.add("default partition",
            count_text(stats.default_partition_rows, stats.default_partition_rows >= stats.bound));
  return table;
}

Json queue_json(const QueueReading& now, const QueueReading* before) {
  const QueueStats& stats = now.stats;
  Json json;
  json["at_ms"] = now.unix_ms;
  json["bound"] = stats.bound;
  json["capped"] = capped(stats);
  json["ready"] = stats.ready;
  json["leased"] = stats.leased;
  json["delayed"] = stats.delayed;
  json["paused"] = stats.paused;
  json["suspects"] = stats.suspects;
  json["oldest_ms"] = stats.oldest_ms;
  json["classes"] = Json::array();
  for (const auto& line : stats.classes) {
    json["classes"].push_back({{"class", line.priority_class},
                               {"lanes", line.lanes},
                               {"waiting", line.waiting},
                               {"oldest_ms", line.oldest_ms}});
  }
  json["paused_kinds"] = Json::array();
  for (const auto& kind : now.paused_kinds) {
    json["paused_kinds"].push_back(
        {{"kind", kind.kind}, {"paused_at_ms", kind.paused_at_ms}, {"actor", kind.actor}});
  }
  json["rows_estimate"] = stats.rows_estimate;
  json["dead_tuples"] = stats.dead_tuples;
  json["snapshot_age_ms"] = stats.snapshot_age_ms;
  json["table_bytes"] = stats.table_bytes;
  json["index_bytes"] = stats.index_bytes;
  json["default_partition_rows"] = stats.default_partition_rows;
  json["rows_inserted"] = stats.rows_inserted;
  json["rows_deleted"] = stats.rows_deleted;
  const auto rates = queue_rates(now, before);
  json["submitted_per_second"] = rates ? Json(rates->submitted) : Json();
  json["finished_per_second"] = rates ? Json(rates->finished) : Json();
  return json;
}

std::string queue_line(const QueueReading& now, const QueueReading* before) {
  const auto rates = queue_rates(now, before);
  std::string line = utc_time(now.unix_ms);
  for (const auto& [name, value] : counts(now.stats)) {
    line.append("  ").append(name).append(" ").append(value);
  }
  line += "  submitted " + rate_text(rates, &QueueRates::submitted);
  line += "  finished " + rate_text(rates, &QueueRates::finished);
  line += "  dead rows " + grouped(now.stats.dead_tuples);
  line += "  oldest snapshot " + age_text(now.stats.snapshot_age_ms);
  const std::string kinds = kinds_text(now.paused_kinds);
  return kinds.empty() ? line : line + "  paused kinds " + kinds;
}

std::vector<std::string> queue_screen(const QueueReading& now, const QueueReading* before,
                                      std::string_view note) {
  const auto rates = queue_rates(now, before);
  std::vector<std::string> lines = {"queue  " + utc_time(now.unix_ms) + " UTC", ""};
  RowTable table(
      {"waiting", "leased", "delayed", "paused", "suspects", "oldest", "submitted", "finished"});
  std::vector<std::string> row;
  for (auto& [name, value] : counts(now.stats)) row.push_back(std::move(value));
  row.push_back(rate_text(rates, &QueueRates::submitted));
  row.push_back(rate_text(rates, &QueueRates::finished));
  table.add(std::move(row));
  std::ostringstream text;
  table.print(text);
  text << '\n';
  class_table(now.stats).print(text);
  text << '\n' << "paused kinds  " << shown(kinds_text(now.paused_kinds)) << '\n';
  text << "storage       " << storage_text(now.stats) << '\n';
  append_lines(lines, text.str());
  if (!note.empty()) {
    lines.emplace_back();
    lines.push_back(printable(note));
  }
  return lines;
}

}  // namespace han::safety
