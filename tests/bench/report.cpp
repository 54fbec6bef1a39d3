#include "tests/bench/report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "safety/base/check.h"

namespace han::tests {
namespace {

// Shorter numbers in JSON; more places would only be noise.
double rounded(double value) {
  constexpr double kPlaces = 1000;
  return std::round(value * kPlaces) / kPlaces;
}

nlohmann::json object_of(const std::map<std::string, double>& figures) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [name, value] : figures) object[name] = rounded(value);
  return object;
}

}  // namespace

double Samples::median() const {
  SAFETY_CHECK(!values_.empty());
  std::vector<double> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double Samples::smallest() const {
  SAFETY_CHECK(!values_.empty());
  return *std::min_element(values_.begin(), values_.end());
}

double Samples::largest() const {
  SAFETY_CHECK(!values_.empty());
  return *std::max_element(values_.begin(), values_.end());
}

double Samples::percentile(double share) const {
  SAFETY_CHECK(!values_.empty());
  std::vector<double> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

std::string Samples::text() const {
  if (values_.empty()) return "-";
  return short_number(median()) + " (" + short_number(smallest()) + "-" + short_number(largest()) +
         ")";
}

std::string short_number(double value) {
  const char* unit = "";
  if (std::abs(value) >= 1e6) {
    value /= 1e6;
    unit = "M";
  } else if (std::abs(value) >= 1e4) {
    value /= 1e3;
    unit = "k";
  }
  const double size = std::abs(value);
  const int places = size >= 100 || value == 0 ? 0 : size >= 10 ? 1 : 2;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f%s", places, value, unit);
  return text;
}

std::string mebibytes(double bytes) {
  const double value = bytes / (1024 * 1024);
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.1f MiB" : "%.0f MiB", value);
  return text;
}

namespace {

std::string judged(double value, double target, bool is_reached) {
  return short_number(value) + " (target " + short_number(target) + ": " +
         (is_reached ? "reached" : "missed") + ")";
}

}  // namespace

std::string at_least(double value, double target) { return judged(value, target, value >= target); }

std::string at_most(double value, double target) { return judged(value, target, value <= target); }

Table::Table(std::vector<std::string> head) : rows_{std::move(head)} {}

void Table::add(std::vector<std::string> row) {
  SAFETY_CHECK(row.size() == rows_.front().size());
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - row[i].size(), ' ');
      out += i == 0 ? row[i] + pad : "  " + pad + row[i];
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

std::string Table::markdown() const {
  std::string out;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    for (const std::string& cell : rows_[row]) out += "| " + cell + " ";
    out += "|\n";
    if (row > 0) continue;
    for (std::size_t i = 0; i < rows_[row].size(); ++i) out += i == 0 ? "|---" : "|---:";
    out += "|\n";
  }
  return out;
}

std::string BenchResult::json() const {
  nlohmann::ordered_json line;
  line["bench"] = bench;
  line["sides"] = object_of(sides);
  line["ratio"] = rounded(ratio);
  line["target"] = rounded(target);
  line["ratios"] = object_of(ratios);
  return line.dump();
}

}  // namespace han::tests
