// Report: what every benchmark prints: samples with their median, one table, one line of JSON.
//
// Threads: values, one thread at a time. Owns: copies of what it is given. Blocks: never.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace han::tests {

// Figures of one side, one a round.
class Samples {
 public:
  void add(double value) { values_.push_back(value); }
  bool is_empty() const { return values_.empty(); }
  std::size_t count() const { return values_.size(); }
  // Requires: not empty. Of an even count: the mean of the two in the middle.
  double median() const;
  double smallest() const;
  // The smallest value that `share` of all values (0..1) do not exceed. Requires: not empty.
  double percentile(double share) const;
  double largest() const;
  // "147.2k (122.0k-154.1k)", figures as short() writes them.
  std::string text() const;

 private:
  std::vector<double> values_;
};

// Four significant places or fewer: "812", "24.3k", "1.25M", "0.12".
std::string short_number(double value);
// Bytes as MiB: "0.5 MiB", "1375 MiB".
std::string mebibytes(double bytes);

// "2.44 (target 5.00: missed)": a value that should be its target or more, or its target or less.
std::string at_least(double value, double target);
std::string at_most(double value, double target);

// Rows of cells under a head; columns as wide as their widest cell, all but the first to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> head);
  // Requires: as many cells as the head has.
  void add(std::vector<std::string> row);
  std::string text() const;
  std::string markdown() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// The last line of a benchmark run with --json (SPEC section 13).
struct BenchResult {
  std::string bench;
  std::map<std::string, double> sides;
  double ratio = 0;
  double target = 0;
  std::map<std::string, double> ratios;

  std::string json() const;
};

}  // namespace han::tests
