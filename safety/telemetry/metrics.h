// Metrics: counts and durations of the process, as Prometheus text.
//
// Names are `han_safety_*`. A label's value is a word of our own code or a rule id, never anything
// of a user. Figures that parts keep themselves (pools, caches) are read by a collector at each
// scrape.
//
// Threads:   safe to share.
// Blocks:    never, but for the collectors that text() calls.
// Limits:    kSeriesMax label values a name; beyond it all others share the value "other".
// Source:    Prometheus text exposition format 0.0.4.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace han::safety {

class Metrics {
 public:
  static constexpr std::size_t kSeriesMax = 2000;

  // Sets a gauge: name, one label value ("" for none), figure.
  using SetGauge = std::function<void(std::string_view name, std::string_view label, double value)>;
  using Collector = std::function<void(const SetGauge&)>;

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // `name` without the prefix; `label` is the value of the label "kind".
  void count(std::string_view name, std::string_view label, double by = 1);
  void observe(std::string_view name, std::chrono::nanoseconds duration);
  // Requires: called before the first text(); what the collector reads must outlive this object's
  // use.
  void add_collector(Collector collector);

  std::string text();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace han::safety
