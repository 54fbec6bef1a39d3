// Output: tables for people and one JSON value a line for machines.
//
// Threads: one thread at a time. Blocks: while the reader of standard output does not read.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <exception>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace han::safety {

// Keys stay in the order in which they were put.
using Json = nlohmann::ordered_json;

// On one line; bytes that are no UTF-8 become U+FFFD.
std::string to_line(const Json& json);

// Names and values, one pair a line. Threads: one thread at a time.
class FieldTable {
 public:
  void add(std::string name, std::string_view value);
  void add(std::string name, std::int64_t value);
  void add(std::string name, const std::vector<std::string>& values);
  void print(std::ostream& out) const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// Rows under a head; a cell for each column. Threads: one thread at a time.
class RowTable {
 public:
  explicit RowTable(std::vector<std::string> head);
  void add(std::vector<std::string> row);
  void print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// A dash for what is absent, or empty.
std::string shown(const std::optional<std::string>& value);
// Without control characters, which a terminal would obey.
std::string printable(std::string_view text);
// "2027-12-31 23:59:59" in UTC, of milliseconds since 1970.
std::string utc_time(std::int64_t unix_ms);

// Standard output is a pipe that nobody reads any more; the program ends without a word.
class OutputClosed : public std::exception {};

// Throws Failure when what was written did not get out, for example on a full disk, and
// OutputClosed.
void flush_output(std::ostream& out);

// The answer of a command on standard output: one JSON value, or a table.
void print_answer(bool as_json, const Json& json, const FieldTable& table);
void print_answer(bool as_json, const Json& json, const RowTable& table);

}  // namespace han::safety
