// Evidence: what an engine found in a subject, before any policy.
//
// Evidence is what the caches keep; the policy is applied to it afterwards, so two configs can live
// at once on the same entries. It holds rule ids, never text.
//
// Threads: values. Blocks: never.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace han::safety {

// The fixed set of reasons of an indeterminate text verdict.
inline constexpr std::string_view kReasonEngine = "engine";  // the matching engine failed
inline constexpr std::string_view kReasonLimit = "limit";    // the text is longer than the limit
inline constexpr std::string_view kReasonEvidence = "evidence";  // the evidence names unknown rules

struct TextEvidence {
  std::vector<std::string> hits;     // ids of enforced rules that hit, sorted, each once
  std::vector<std::string> monitor;  // ids of shadow rules that hit, sorted, each once
  bool has_links = false;
  // Empty, or the reason why the text could not be judged. Such evidence is never cached.
  std::string failure;

  bool is_complete() const { return failure.empty(); }
  bool operator==(const TextEvidence&) const = default;
};

}  // namespace han::safety
