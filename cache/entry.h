// Entry: what all cached values have in common: sizes, schema, and what reading one may give.
//
// A value is compact JSON that names its subject and versions; one that names others than its key
// is refused, so that a value under the wrong key (a bug, a lying server) cannot become evidence.
// Each kind has a file of its own (text_entry.h, ...) with encode_entry and decode_entry; golden
// files in tests/cache/golden keep the formats stable. Values hold ids, versions, hashes and, for
// DNS, addresses: never a text, URL or name (SPEC I7).
//
// Threads: values and pure functions. Blocks: never.
// Fails:   by DecodeOutcome. encode_entry aborts on an entry that breaks its own rules.
// Limits:  kValueBytesTarget is counted by the caller, kValueBytesMax is refused on both ways.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace han::cache {

inline constexpr std::size_t kValueBytesTarget = 32 * 1024;
inline constexpr std::size_t kValueBytesMax = 128 * 1024;
inline constexpr int kSchemaVersion = 1;

enum class DecodeOutcome {
  kEntry,
  // A miss; the value is to be deleted if it is unchanged.
  kUndecodable,
  // A miss; a newer process wrote it, it stays.
  kNewerSchema,
  // Well formed, but names another subject, another version or an unknown pepper: refused.
  kForeign,
  // Over kValueBytesMax; treated as undecodable.
  kOversized,
};

template <typename Entry>
struct Decoded {
  DecodeOutcome outcome = DecodeOutcome::kUndecodable;
  // As its constructor leaves it but for kEntry.
  Entry entry{};
};

// A final judgement as cached values name it; an indeterminate one is never cached (SPEC I4). What
// nobody has set blocks.
enum class CachedDecision { kBlock, kMonitor, kAllow };

// block, monitor, allow.
std::string_view decision_name(CachedDecision decision);
// Nullopt: any other word, indeterminate among them.
std::optional<CachedDecision> parse_decision_name(std::string_view name);

// 1-64 characters of [a-z0-9._-]; categories, too.
bool is_rule_id(std::string_view text);

}  // namespace han::cache
