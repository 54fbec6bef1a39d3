#include "safety/verdict.h"

#include <array>

#include "safety/base/check.h"

namespace han::safety {
namespace {

constexpr std::array<std::string_view, 4> kDecisions = {"indeterminate", "allow", "monitor",
                                                        "block"};
constexpr std::array<std::string_view, 2> kDispositions = {"hold", "block"};
constexpr std::array<std::string_view, 4> kLayers = {"local", "redis", "postgres", "computed"};

// The names stand in the order of the enumerators.
template <typename Enum, std::size_t kCount>
std::string_view name_of(const std::array<std::string_view, kCount>& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  SAFETY_CHECK(index < kCount);
  return names[index];
}

template <typename Enum, std::size_t kCount>
std::optional<Enum> value_of(const std::array<std::string_view, kCount>& names,
                             std::string_view text) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

// Allow is 0 by being none of the others.
int strength(Decision decision) {
  if (decision == Decision::kBlock) return 3;
  if (decision == Decision::kIndeterminate) return 2;
  return decision == Decision::kMonitor ? 1 : 0;
}

}  // namespace

std::string_view to_string(Decision decision) { return name_of(kDecisions, decision); }
std::string_view to_string(Disposition disposition) { return name_of(kDispositions, disposition); }
std::string_view to_string(Layer layer) { return name_of(kLayers, layer); }

std::optional<Decision> parse_decision(std::string_view text) {
  return value_of<Decision>(kDecisions, text);
}

std::optional<Disposition> parse_disposition(std::string_view text) {
  return value_of<Disposition>(kDispositions, text);
}

std::optional<Layer> parse_layer(std::string_view text) { return value_of<Layer>(kLayers, text); }

Decision combine(Decision a, Decision b) { return strength(a) >= strength(b) ? a : b; }

}  // namespace han::safety
