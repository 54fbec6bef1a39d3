// ListRow: one list of hosts, paths, networks or hashes, as an operator wrote it in lists.yaml.
//
// Threads: values and pure functions. Blocks: never.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "safety/rule_table.h"

namespace han::safety {

// What the entries of a list are (safety/link/list_entry.h).
enum class ListKind : std::uint8_t {
  kHost,    // one host
  kSuffix,  // a host and all below it
  kPath,    // a page, or a folder and all below it, of a host and all below it
  kCidr,    // a network of addresses
  kHash,    // the first bytes of the SHA-256 of a host or path as the policy key names it
};

enum class ListFormat : std::uint8_t {
  kLines,  // one entry a line
  kHosts,  // as /etc/hosts: an address and names
};

struct ListRow {
  std::string id;
  std::string file;  // relative to the folder of lists.yaml
  ListFormat format = ListFormat::kLines;
  ListKind kind = ListKind::kHost;
  RuleAction action = RuleAction::kBlock;
  int severity = 0;  // of an allow list always 0
  RuleMode mode = RuleMode::kEnforce;
  std::vector<std::string> categories;
  std::string owner;
  std::string reason;
  std::optional<std::chrono::sys_days> expires;  // the last day on which the list is live
  // A file with fewer entries is refused. It decides no link and is no input of rules_version.
  std::optional<std::size_t> entries_min;
  int line = 0;  // in lists.yaml
};

std::string_view to_string(ListKind kind);
std::string_view to_string(ListFormat format);

bool is_live(const ListRow& row, std::chrono::sys_days activation_date);
// The lists that count on `activation_date` (UTC): not off, not expired; sorted by id.
std::vector<ListRow> live_lists(std::vector<ListRow> rows, std::chrono::sys_days activation_date);

RulePolicy policy_of(const ListRow& row);

// An unambiguous form of a row's every field but line and entries_min; input of rules_version.
std::string canonical_form(const ListRow& row);

}  // namespace han::safety
