#include "safety/worker/bundle_report.h"

namespace han::safety {

std::string bundle_report(const BundleHolder::State& state) {
  const BundleCounts counts = state.bundle->counts();
  std::string text = "bundle: " + std::to_string(counts.rules) + " rules, " +
                     std::to_string(counts.lists) + " lists, " + std::to_string(counts.entries) +
                     " entries\n";
  if (!state.fault.empty()) text += "bundle refused, the old one stays: " + state.fault + "\n";
  return text;
}

void set_bundle_figures(const BundleHolder::State& state, const Metrics::SetGauge& set) {
  const BundleCounts counts = state.bundle->counts();
  set("bundle_refused", "", state.fault.empty() ? 0 : 1);
  set("bundle_parts", "rules", static_cast<double>(counts.rules));
  set("bundle_parts", "lists", static_cast<double>(counts.lists));
  set("bundle_parts", "entries", static_cast<double>(counts.entries));
}

}  // namespace han::safety
