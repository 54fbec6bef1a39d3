#include "safety/telemetry/metrics.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace han::tests {

using safety::Metrics;

bool has(const std::string& text, const std::string& line) {
  return text.find(line + "\n") != std::string::npos;
}

TEST(Metrics, CountsByNameAndLabel) {
  Metrics metrics;
  metrics.count("verdicts_total", "block");
  metrics.count("verdicts_total", "block", 2);
  metrics.count("plain_total", "");
  const std::string text = metrics.text();
  EXPECT_TRUE(has(text, "han_safety_verdicts_total{kind=\"block\"} 3")) << text;
  EXPECT_TRUE(has(text, "han_safety_plain_total 1")) << text;
}

TEST(Metrics, ObservesDurationsInSeconds) {
  Metrics metrics;
  metrics.observe("batch_seconds", std::chrono::milliseconds(200));
  EXPECT_TRUE(has(metrics.text(), "han_safety_batch_seconds_count 1"));
  EXPECT_TRUE(has(metrics.text(), "han_safety_batch_seconds_bucket{le=\"0.5\"} 1"));
}

TEST(Metrics, ReadsCollectorsAtEachScrape) {
  Metrics metrics;
  double value = 1;
  metrics.add_collector([&](const Metrics::SetGauge& set) { set("size", "a", value); });
  EXPECT_TRUE(has(metrics.text(), "han_safety_size{kind=\"a\"} 1"));
  value = 2;
  EXPECT_TRUE(has(metrics.text(), "han_safety_size{kind=\"a\"} 2"));
}

TEST(Metrics, BoundsTheValuesOfALabel) {
  Metrics metrics;
  for (std::size_t i = 0; i < Metrics::kSeriesMax + 50; ++i) {
    metrics.count("hits_total", "rule" + std::to_string(i));
  }
  EXPECT_TRUE(has(metrics.text(), "han_safety_hits_total{kind=\"other\"} 50"));
}

TEST(Metrics, IsSharedByThreads) {
  Metrics metrics;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&metrics] {
        for (int i = 0; i < 500; ++i) metrics.count("shared_total", std::to_string(i % 7));
      });
    }
    for (int i = 0; i < 20; ++i) metrics.text();
  }
  EXPECT_TRUE(has(metrics.text(), "han_safety_shared_total{kind=\"0\"} 288"));
}

}  // namespace han::tests
