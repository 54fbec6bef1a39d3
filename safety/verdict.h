// Verdict: what was decided about one subject, why, and under which versions.
//
// It carries rule ids and versions, never text. There is no conversion to bool, a verdict that
// nobody filled in is indeterminate, and only safety/policy.cpp makes one that allows: an error has
// no way to become "allow".
//
// Threads: values and pure functions. Blocks: never.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace han::safety {

// The first is what a Decision is that nobody has set.
enum class Decision : std::uint8_t { kIndeterminate, kAllow, kMonitor, kBlock };

// What happens to an indeterminate subject. Allowing it is not representable.
enum class Disposition : std::uint8_t { kHold, kBlock };

// The layer that had the evidence.
enum class Layer : std::uint8_t { kLocal, kRedis, kPostgres, kComputed };

std::string_view to_string(Decision decision);
std::string_view to_string(Disposition disposition);
std::string_view to_string(Layer layer);
// nullopt for any other text; only the exact lower-case names count.
std::optional<Decision> parse_decision(std::string_view text);
std::optional<Disposition> parse_disposition(std::string_view text);
std::optional<Layer> parse_layer(std::string_view text);

// The version strings of SPEC section 5; a part that does not apply is empty.
struct Versions {
  std::string rules;
  std::string config;
  std::string detectors;

  bool operator==(const Versions&) const = default;
};

// The part of a verdict that one link of the subject had.
struct LinkVerdict {
  std::string url_hash;
  Decision decision = Decision::kIndeterminate;
  std::vector<std::string> rules;

  bool operator==(const LinkVerdict&) const = default;
};

inline constexpr std::string_view kReasonRule = "rule";

struct Verdict {
  Decision decision = Decision::kIndeterminate;
  // A word of the fixed set in safety/evidence.h for an indeterminate verdict, "rule" when rules
  // decided, empty when nothing was found.
  std::string reason = "unjudged";
  std::vector<std::string> rules;  // enforced rules that hit, sorted
  // Shadow rules that hit, and lists that hit and are outranked by another one; sorted.
  std::vector<std::string> monitor_rules;
  std::vector<std::string> categories;  // of the enforced rules that hit, sorted, each once
  std::vector<LinkVerdict> links;
  Versions versions;
  // Counts only while the decision is indeterminate.
  Disposition disposition = Disposition::kHold;

  bool operator==(const Verdict&) const = default;
};

// The stronger of two decisions about parts of one subject: block > indeterminate > monitor >
// allow.
Decision combine(Decision a, Decision b);

}  // namespace han::safety
