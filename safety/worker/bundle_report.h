// Bundle report: what /readyz and /metrics say about the bundle: how much of it counts, or why the
// files that stand in its place are refused.
//
// A refused bundle never decides readiness: the old one is whole and judges on.
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <string>

#include "safety/bundle_holder.h"
#include "safety/telemetry/metrics.h"

namespace han::safety {

// Lines for /readyz: "bundle: 313 rules, 6 lists, 1000 entries", and when a change of the files is
// refused why, "bundle refused, the old one stays: file:line: ..."; it names files, lines and ids.
std::string bundle_report(const BundleHolder::State& state);
void set_bundle_figures(const BundleHolder::State& state, const Metrics::SetGauge& set);

}  // namespace han::safety
