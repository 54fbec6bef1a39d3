#include "safety/apps/ctl/output.h"

#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "safety/apps/ctl/failure.h"
#include "safety/base/check.h"

namespace han::safety {
namespace {

constexpr std::string_view kNothing = "-";

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string digits(std::int64_t value, std::size_t width) {
  std::string text = std::to_string(value);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

// Whether the reading end of a pipe or the peer of a socket is gone.
bool is_closed(int fd) {
  pollfd entry{fd, 0, 0};
  return ::poll(&entry, 1, 0) == 1 && (entry.revents & (POLLERR | POLLHUP)) != 0;
}

template <typename Table>
void print_either(bool as_json, const Json& json, const Table& table) {
  if (as_json) {
    std::cout << to_line(json) << '\n';
  } else {
    table.print(std::cout);
  }
  flush_output(std::cout);
}

}  // namespace

std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void FieldTable::add(std::string name, std::string_view value) {
  fields_.emplace_back(std::move(name), value.empty() ? kNothing : value);
}

void FieldTable::add(std::string name, std::int64_t value) {
  fields_.emplace_back(std::move(name), std::to_string(value));
}

void FieldTable::add(std::string name, const std::vector<std::string>& values) {
  std::string joined;
  for (const std::string& value : values) joined += (joined.empty() ? "" : ", ") + value;
  add(std::move(name), joined);
}

void FieldTable::print(std::ostream& out) const {
  std::size_t width = 0;
  for (const auto& [name, value] : fields_) width = std::max(width, name.size());
  for (const auto& [name, value] : fields_) {
    out << padded(name, width) << "  " << printable(value) << '\n';
  }
}

RowTable::RowTable(std::vector<std::string> head) { rows_.push_back(std::move(head)); }

void RowTable::add(std::vector<std::string> row) {
  SAFETY_CHECK(row.size() == rows_.front().size());
  rows_.push_back(std::move(row));
}

void RowTable::print(std::ostream& out) const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_last = i + 1 == row.size();
      out << (is_last ? printable(row[i]) + "\n" : padded(printable(row[i]), widths[i]) + "  ");
    }
  }
}

std::string shown(const std::optional<std::string>& value) {
  return value && !value->empty() ? *value : std::string(kNothing);
}

std::string printable(std::string_view text) {
  std::string clean(text);
  for (char& c : clean) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = ' ';
  }
  return clean;
}

std::string utc_time(std::int64_t unix_ms) {
  using std::chrono::days;
  using std::chrono::milliseconds;
  const std::chrono::sys_time<milliseconds> time{milliseconds(unix_ms)};
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  return digits(int{date.year()}, 4) + "-" + digits(unsigned{date.month()}, 2) + "-" +
         digits(unsigned{date.day()}, 2) + " " + digits(clock.hours().count(), 2) + ":" +
         digits(clock.minutes().count(), 2) + ":" + digits(clock.seconds().count(), 2);
}

void flush_output(std::ostream& out) {
  out.flush();
  if (!out) {
    if (is_closed(STDOUT_FILENO)) throw OutputClosed();
    throw Failure(ExitCode::kFailure, "standard output cannot be written",
                  "check its disk or the program that reads it");
  }
}

void print_answer(bool as_json, const Json& json, const FieldTable& table) {
  print_either(as_json, json, table);
}

void print_answer(bool as_json, const Json& json, const RowTable& table) {
  print_either(as_json, json, table);
}

}  // namespace han::safety
