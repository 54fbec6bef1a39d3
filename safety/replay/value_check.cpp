#include "safety/replay/value_check.h"

#include <array>
#include <utility>

#include "safety/base/check.h"

namespace han::safety {
namespace {

using cache::ErrorClass;
using cache::KeyKind;
using cache::Reply;

// Rows of a subject that a value is compared with: one a config version, the newest first.
constexpr std::int32_t kRowsMax = 4;
// PTTL and the clocks of two servers are not read at the same moment.
constexpr std::chrono::seconds kTtlSlack{2};

// The kind of verdict row behind a kind of key; empty: there are none.
std::string_view row_kind_of(KeyKind kind) {
  switch (kind) {
    case KeyKind::kText:
      return "text";
    case KeyKind::kVerdict:
      return "file";
    case KeyKind::kLink:
      return "link";
    case KeyKind::kDns:
    case KeyKind::kRate:
      break;
  }
  return "";
}

pgqueue::SubjectVersions subject_of(const cache::ParsedKey& parts) {
  const auto given = [](const std::string& version) {
    return version.empty() ? std::nullopt : std::optional(version);
  };
  return {std::string(as_text(parts.hash)), given(parts.rules_version), given(parts.config_version),
          given(parts.detector_bundle)};
}

}  // namespace

std::optional<cache::HotKey> hot_key(const cache::ParsedKey& parts) {
  switch (parts.kind) {
    case KeyKind::kText:
      return cache::TextKey(parts.hash, parts.rules_version);
    case KeyKind::kVerdict:
      return cache::VerdictKey(parts.hash, parts.config_version, parts.detector_bundle);
    case KeyKind::kLink:
      return cache::LinkKey(parts.hash, parts.rules_version, parts.config_version);
    case KeyKind::kDns:
      return cache::DnsKey(parts.hash, parts.rrtype);
    case KeyKind::kRate:
      break;
  }
  return std::nullopt;
}

CheckEnd ValueCheck::check(std::span<const NamedKey> keys, std::vector<CheckedKey>& checked) {
  SAFETY_CHECK(keys.size() <= kKeysMax);
  checked.assign(keys.size(), {});
  if (keys.empty()) return {};
  if (const CheckEnd end = read(keys, checked); !end.is_ok()) return end;
  for (const auto kind : {KeyKind::kText, KeyKind::kVerdict, KeyKind::kLink, KeyKind::kDns}) {
    compare(keys, kind, checked);
  }
  return {};
}

// What is a string and not too long is kRight so far.
CheckEnd ValueCheck::read(std::span<const NamedKey> keys, std::vector<CheckedKey>& checked) {
  cache::CommandBuffer commands;
  for (const NamedKey& key : keys) {
    commands.add({"GET", key.text});
    commands.add({"PTTL", key.text});
  }
  auto result = redis_.call(commands, Deadline::after(timeout_));
  if (result.trouble != cache::Trouble::kNone) return {result.trouble, ErrorClass::kNone};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Reply& value = result.replies[2 * i];
    const Reply& ttl = result.replies[2 * i + 1];
    if (ttl.is_error()) return {cache::Trouble::kNone, ttl.error};
    const bool is_gone = ttl.integer == cache::kPttlNoKey || value.kind == Reply::Kind::kNil;
    if (ttl.integer == cache::kPttlNoTtl) {
      checked[i].ttl = std::nullopt;
    } else {
      checked[i].ttl = std::chrono::milliseconds(ttl.integer);
    }
    if (value.is_error() && value.error != ErrorClass::kWrongtype &&
        value.error != ErrorClass::kOversized) {
      return {cache::Trouble::kNone, value.error};
    }
    if (is_gone) continue;
    if (value.error == ErrorClass::kWrongtype) {
      checked[i].state = KeyState::kNotString;
    } else if (value.error == ErrorClass::kOversized) {
      checked[i].state = KeyState::kOversized;
    } else {
      const bool is_counter = keys[i].parts.kind == KeyKind::kRate;
      checked[i].state = is_counter ? KeyState::kUnbacked : KeyState::kRight;
      checked[i].bytes = std::move(value.text);
    }
  }
  return {};
}

void ValueCheck::compare(std::span<const NamedKey> keys, KeyKind kind,
                         std::vector<CheckedKey>& checked) {
  std::vector<std::size_t> places;
  std::vector<pgqueue::SubjectVersions> subjects;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].parts.kind != kind || checked[i].state != KeyState::kRight) continue;
    places.push_back(i);
    subjects.push_back(subject_of(keys[i].parts));
  }
  if (places.empty()) return;
  std::vector<std::vector<pgqueue::StoredEvidence>> rows(places.size());
  if (const auto row_kind = row_kind_of(kind); !row_kind.empty()) {
    rows = pgqueue::verdicts_of(database_, row_kind, subjects, kRowsMax,
                                static_cast<std::int32_t>(cache::kValueBytesMax),
                                Deadline::after(timeout_));
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    judge(keys[places[i]], rows[i], checked[places[i]]);
  }
}

void ValueCheck::judge(const NamedKey& key, std::span<const pgqueue::StoredEvidence> rows,
                       CheckedKey& checked) const {
  const cache::HotKey typed = *hot_key(key.parts);
  const ReadEntry read = reader_.read(typed, checked.bytes);
  switch (read.fault) {
    case EntryFault::kUndecodable:
      checked.state = KeyState::kWrong;
      checked.is_undecodable = true;
      return;
    case EntryFault::kUnproven:
      checked.state = KeyState::kWrong;
      return;
    case EntryFault::kForeign:
      checked.state = KeyState::kForeign;
      return;
    case EntryFault::kOversized:
      checked.state = KeyState::kOversized;
      return;
    case EntryFault::kNewerSchema:
      checked.state = KeyState::kNewerSchema;
      return;
    case EntryFault::kNone:
    case EntryFault::kRetiredPepper:
      break;
  }
  checked.state = compare_entry(typed, read.entry, rows);
  const bool is_too_long = checked.ttl && *checked.ttl > judge_.ttl_of(key.parts.kind) + kTtlSlack;
  const bool is_sound = checked.state == KeyState::kRight || checked.state == KeyState::kUnbacked;
  if (is_sound && (is_too_long || read.fault == EntryFault::kRetiredPepper)) {
    checked.state = KeyState::kStale;
  }
}

KeyState ValueCheck::compare_entry(const cache::HotKey& key, const AnyEntry& entry,
                                   std::span<const pgqueue::StoredEvidence> rows) const {
  const bool is_of_queue =
      std::holds_alternative<cache::TextKey>(key) || std::holds_alternative<cache::VerdictKey>(key);
  if (rows.empty()) return is_of_queue ? KeyState::kWrong : KeyState::kUnbacked;
  std::size_t readable = 0;
  for (const pgqueue::StoredEvidence& row : rows) {
    if (!row.evidence) continue;
    const ReadEntry said = reader_.read(key, *row.evidence);
    if (said.fault != EntryFault::kNone && said.fault != EntryFault::kRetiredPepper) continue;
    if (said.entry == entry) return readable == 0 ? KeyState::kRight : KeyState::kStale;
    ++readable;
  }
  return readable == 0 ? KeyState::kUnbacked : KeyState::kWrong;
}

}  // namespace han::safety
