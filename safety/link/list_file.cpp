#include "safety/link/list_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "safety/base/check.h"
#include "safety/base/ip_address.h"

namespace han::safety {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{1} << 30;
constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
constexpr std::string_view kSpace = " \t\v\f\r";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// Names of the machine itself, as hosts files have them.
constexpr std::array<std::string_view, 5> kOwnNames = {"localhost", "localhost.localdomain",
                                                       "local", "broadcasthost", "localhost4"};

std::string_view trim(std::string_view text) {
  const std::size_t start = text.find_first_not_of(kSpace);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(kSpace) + 1 - start);
}

std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || kSpace.find(line[at - 1]) != std::string_view::npos) return line.substr(0, at);
  }
  return line;
}

std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(kSpace), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return word;
}

bool is_own_name(std::string_view name) {
  return std::find(kOwnNames.begin(), kOwnNames.end(), name) != kOwnNames.end() ||
         name.starts_with("ip6-") || name.starts_with("localhost6") ||
         IpAddress::parse(name).has_value();
}

// "17: what" of each further fault, for one message.
std::string describe(const std::vector<ListFault>& faults, std::size_t count) {
  std::string text(faults.front().what_and_fix);
  if (count == 1) return text;
  text.append("; ").append(std::to_string(count)).append(" lines are wrong, also:");
  for (std::size_t i = 1; i < faults.size(); ++i) {
    text.append(i > 1 ? "," : "").append(" ").append(std::to_string(faults[i].line));
  }
  if (count > faults.size()) text += " and more";
  return text;
}

}  // namespace

ListFileError::ListFileError(const std::string& file, const std::string& list_id,
                             std::vector<ListFault> faults, std::size_t count)
    : ConfigError(file, faults.front().line, "list " + list_id, describe(faults, count)),
      faults_(std::move(faults)),
      count_(count) {}

ListReader::ListReader(std::string file, const ListRow& row, const PublicSuffixes& suffixes,
                       ListSink sink)
    : file_(std::move(file)), row_(row), suffixes_(suffixes), sink_(std::move(sink)) {}

void ListReader::add_fault(std::string_view what_and_fix) {
  if (faults_.size() < kListFaultsMax) {
    faults_.push_back({static_cast<int>(summary_.lines), what_and_fix});
  }
  ++fault_count_;
}

void ListReader::read_entry(std::string_view text) {
  const auto parsed = parse_list_entry(text, row_.kind, row_.action, suffixes_);
  if (const auto* fault = std::get_if<ListEntryFault>(&parsed)) {
    add_fault(*fault);
    return;
  }
  ++summary_.entries;
  // What cannot be used as a whole is not taken in part.
  if (fault_count_ == 0) sink_(std::get<ListEntry>(parsed), static_cast<int>(summary_.lines));
}

void ListReader::read_hosts_line(std::string_view line) {
  std::string_view address = take_word(line);
  address = address.substr(0, address.find('%'));  // without a zone
  if (!IpAddress::parse(address) || line.empty()) {
    add_fault("must be an address and names; for one name a line use format lines");
    return;
  }
  while (!line.empty()) {
    const std::string_view name = take_word(line);
    if (!is_own_name(name)) read_entry(name);
  }
}

void ListReader::read_line(std::string_view line) {
  ++summary_.lines;
  if (summary_.lines == 1 && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  if (line.size() > kListLineBytesMax) {
    add_fault("is longer than 4096 bytes; is it a list?");
    return;
  }
  line = trim(without_comment(line));
  if (line.empty()) return;
  if (row_.format == ListFormat::kHosts) {
    read_hosts_line(line);
  } else {
    read_entry(line);
  }
}

void ListReader::feed(std::string_view bytes) {
  digest_.update(bytes);
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    // More than the limit is not kept, only that it was more.
    const std::size_t room = kListLineBytesMax + 1 - std::min(rest_.size(), kListLineBytesMax + 1);
    if (end == std::string_view::npos || !rest_.empty()) rest_.append(piece.substr(0, room));
    if (end == std::string_view::npos) return;
    read_line(rest_.empty() ? piece : rest_);
    rest_.clear();
    bytes.remove_prefix(end + 1);
  }
}

ListFileSummary ListReader::finish() {
  if (!rest_.empty()) read_line(rest_);
  if (fault_count_ > 0) throw ListFileError(file_, row_.id, std::move(faults_), fault_count_);
  summary_.digest = digest_.finish();
  return summary_;
}

ListFileSummary read_list_file(const std::string& path, const ListRow& row,
                               const PublicSuffixes& suffixes, ListSink sink) {
  const std::string field = "list " + row.id;
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw ConfigError(path, 0, field, "no such file; check the name in lists.yaml");
  }
  if (status.type() != std::filesystem::file_type::regular) {
    throw ConfigError(path, 0, field, "not a readable regular file; check the name in lists.yaml");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ConfigError(path, 0, field, "cannot be opened; check its permissions");
  ListReader reader(path, row, suffixes, std::move(sink));
  std::string piece(kPieceBytes, '\0');
  std::size_t total = 0;
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    total += count;
    if (total > kFileBytesMax) throw ConfigError(path, 0, field, "larger than 1 GiB; split it");
    reader.feed(std::string_view(piece).substr(0, count));
  }
  if (file.bad()) throw ConfigError(path, 0, field, "cannot be read to the end");
  return reader.finish();
}

}  // namespace han::safety
