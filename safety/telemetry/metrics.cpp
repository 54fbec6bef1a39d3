#include "safety/telemetry/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <set>
#include <vector>

#include "safety/base/mutex.h"

namespace han::safety {
namespace {

constexpr std::string_view kPrefix = "han_safety_";
constexpr const char* kLabel = "kind";

std::string full(std::string_view name) { return std::string(kPrefix) + std::string(name); }

prometheus::Histogram::BucketBoundaries buckets() {
  return {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30};
}

}  // namespace

struct Metrics::State {
  prometheus::Registry registry;
  std::vector<Collector> collectors;
  Mutex mutex;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> values GUARDED_BY(mutex);

  // The label, or "other" when the name has all the values that it may have.
  std::map<std::string, std::string> labels(std::string_view name, std::string_view value) {
    if (value.empty()) return {};
    MutexLock lock(mutex);
    auto& known = values[std::string(name)];
    if (known.find(value) == known.end()) {
      if (known.size() >= kSeriesMax) return {{kLabel, "other"}};
      known.emplace(value);
    }
    return {{kLabel, std::string(value)}};
  }

  void set_gauge(std::string_view name, std::string_view label, double value) {
    prometheus::BuildGauge()
        .Name(full(name))
        .Register(registry)
        .Add(labels(name, label))
        .Set(value);
  }
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

void Metrics::count(std::string_view name, std::string_view label, double by) {
  prometheus::BuildCounter()
      .Name(full(name))
      .Register(state_->registry)
      .Add(state_->labels(name, label))
      .Increment(by);
}

void Metrics::observe(std::string_view name, std::chrono::nanoseconds duration) {
  prometheus::BuildHistogram()
      .Name(full(name))
      .Register(state_->registry)
      .Add({}, buckets())
      .Observe(std::chrono::duration<double>(duration).count());
}

void Metrics::add_collector(Collector collector) {
  state_->collectors.push_back(std::move(collector));
}

std::string Metrics::text() {
  const auto set = [this](std::string_view name, std::string_view label, double value) {
    state_->set_gauge(name, label, value);
  };
  for (const Collector& collector : state_->collectors) collector(set);
  return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

}  // namespace han::safety
