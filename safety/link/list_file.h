// List files: entries of one kind, one a line or as in a hosts file; one bad line refuses the file.
//
//     # comment                         0.0.0.0 ads.test tracker.test   # comment
//     evil.test      # comment          127.0.0.1 localhost
//
// Lines end in LF or CRLF, a byte order mark at the start is skipped, white space around an entry
// does not count, and '#' at the start of a line or behind white space begins a comment. In a hosts
// file each line is an address and names; the names that such files give to the machine itself
// ("localhost", "broadcasthost", "ip6-...") and addresses as names are skipped. Source: hosts(5).
//
// Threads: one at a time for a reader; functions are pure. Blocks: read_list_file reads one file.
// Fails:   ListFileError names the file and its first bad lines and what is wrong with each, never
//          what stands in them. Whatever `sink` throws.
// Limits:  1 GiB a file, kListLineBytesMax a line; memory of one line and a fixed buffer.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "safety/base/digest.h"
#include "safety/link/list_entry.h"
#include "safety/link/list_row.h"
#include "safety/link/public_suffix.h"
#include "safety/yaml_file.h"

namespace han::safety {

inline constexpr std::size_t kListLineBytesMax = 4096;
inline constexpr std::size_t kListFaultsMax = 20;

struct ListFault {
  int line = 0;
  std::string_view what_and_fix;  // fixed words
};

class ListFileError : public ConfigError {
 public:
  // Requires: at least one fault; `count` of them were found, the first ones are given.
  ListFileError(const std::string& file, const std::string& list_id, std::vector<ListFault> faults,
                std::size_t count);
  const std::vector<ListFault>& faults() const { return faults_; }
  std::size_t fault_count() const { return count_; }

 private:
  std::vector<ListFault> faults_;
  std::size_t count_;
};

struct ListFileSummary {
  Digest digest{};  // SHA-256 of the file's bytes
  std::size_t lines = 0;
  std::size_t entries = 0;
};

using ListSink = std::function<void(const ListEntry&, int line)>;

// Takes the bytes of a file in pieces of any size.
class ListReader {
 public:
  // `row` and `suffixes` must outlive the reader.
  ListReader(std::string file, const ListRow& row, const PublicSuffixes& suffixes, ListSink sink);
  void feed(std::string_view bytes);
  ListFileSummary finish();

 private:
  void read_line(std::string_view line);
  void read_hosts_line(std::string_view line);
  void read_entry(std::string_view text);
  void add_fault(std::string_view what_and_fix);

  const std::string file_;
  const ListRow& row_;
  const PublicSuffixes& suffixes_;
  const ListSink sink_;
  Sha256 digest_;
  ListFileSummary summary_;
  std::string rest_;  // of a line whose end has not come yet
  std::vector<ListFault> faults_;
  std::size_t fault_count_ = 0;
};

ListFileSummary read_list_file(const std::string& path, const ListRow& row,
                               const PublicSuffixes& suffixes, ListSink sink);

}  // namespace han::safety
