#include "safety/replay/entry_reader.h"

#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "cache/entry_seal.h"

namespace han::safety {
namespace {

using cache::DecodeOutcome;

template <typename Key>
struct EntryOf;
template <>
struct EntryOf<cache::TextKey> : std::type_identity<cache::TextEntry> {};
template <>
struct EntryOf<cache::VerdictKey> : std::type_identity<cache::FileEntry> {};
template <>
struct EntryOf<cache::LinkKey> : std::type_identity<cache::LinkEntry> {};
template <>
struct EntryOf<cache::DnsKey> : std::type_identity<cache::DnsEntry> {};

EntryFault fault_of_outcome(DecodeOutcome outcome) {
  switch (outcome) {
    case DecodeOutcome::kEntry:
      return EntryFault::kNone;
    case DecodeOutcome::kUndecodable:
      return EntryFault::kUndecodable;
    case DecodeOutcome::kNewerSchema:
      return EntryFault::kNewerSchema;
    case DecodeOutcome::kForeign:
      return EntryFault::kForeign;
    case DecodeOutcome::kOversized:
      return EntryFault::kOversized;
  }
  return EntryFault::kUndecodable;
}

}  // namespace

std::string EntryReader::claimed_pepper(std::string_view bytes) {
  constexpr std::string_view kField = "\"pepper_id\":\"";
  constexpr std::size_t kIdBytesMax = 16;
  const auto at = bytes.find(kField);
  if (at == std::string_view::npos) return "";
  const auto rest = bytes.substr(at + kField.size(), kIdBytesMax + 1);
  return std::string(rest.substr(0, rest.find('"')));
}

bool EntryReader::is_known(std::string_view pepper_id) const {
  return peppers_ == nullptr || cache::find_pepper(*peppers_, pepper_id) != nullptr;
}

template <typename Key>
ReadEntry EntryReader::read_as(const Key& key, std::string_view bytes) const {
  using Entry = typename EntryOf<Key>::type;
  const std::string claimed = claimed_pepper(bytes);
  auto decoded = cache::decode_entry(bytes, key, std::span(&claimed, 1));
  ReadEntry read;
  read.fault = fault_of_outcome(decoded.outcome);
  if (read.fault != EntryFault::kNone) return read;
  Entry& entry = decoded.entry;
  if (!is_known(entry.pepper_id)) {
    read.fault = EntryFault::kRetiredPepper;
  } else if (peppers_ != nullptr && !cache::is_sealed(entry, *peppers_)) {
    read.fault = EntryFault::kUnproven;
    return read;
  }
  entry.mac.clear();
  entry.pepper_id.clear();
  read.entry = std::move(entry);
  return read;
}

ReadEntry EntryReader::read(const cache::HotKey& key, std::string_view bytes) const {
  return std::visit([&](const auto& typed) { return read_as(typed, bytes); }, key);
}

EntryFault EntryReader::fault_of(const cache::HotKey& key, std::string_view bytes) const {
  return read(key, bytes).fault;
}

}  // namespace han::safety
