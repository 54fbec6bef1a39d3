// What tests of extraction say about a text in one line.
//
// Threads: pure functions.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "safety/link/extract.h"

namespace han::tests {

// "url" of each link, in order; with "~" before alternate readings, "*" before what was disguised,
// "^" before nested ones, "!" before those that lead nowhere.
inline std::vector<std::string> links_of(std::string_view text) {
  const auto extraction = safety::extract_links(text);
  EXPECT_FALSE(extraction.is_over_budget) << text;
  EXPECT_EQ(safety::has_links(text), !extraction.links.empty()) << text;
  std::vector<std::string> urls;
  for (const auto& link : extraction.links) {
    EXPECT_LT(link.start, link.end);
    EXPECT_LE(link.end, text.size());
    std::string mark;
    if (link.reading == safety::Reading::kAlternate) mark = "~";
    if (link.reading == safety::Reading::kNested) mark = "^";
    if (link.reading == safety::Reading::kNowhere) mark = "!";
    if (link.obfuscated) mark += "*";
    urls.push_back(mark + link.url);
  }
  return urls;
}

// The part of the text that each link stands in.
inline std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  for (const auto& link : safety::extract_links(text).links) {
    parts.emplace_back(text.substr(link.start, link.end - link.start));
  }
  return parts;
}

inline std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  text.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

}  // namespace han::tests
