// bench-url: real URLs, read by our parser and by libcurl's.
#include <curl/curl.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "safety/link/policy_key.h"
#include "safety/link/url.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/report.h"

namespace han::tests {
namespace {

constexpr double kParseTarget = 3;  // SPEC section 13, P8
constexpr double kKeyTarget = 1.2;

struct Options {
  std::string file;
  CommonOptions common;
};

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("the file of URLs cannot be read: give --file");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  if (lines.empty()) throw std::runtime_error("the file of URLs is empty");
  return lines;
}

// Each returns a number that depends on all that was read, so that nothing can be left out.
std::size_t parse(const std::string& text) {
  const auto parsed = safety::Url::parse(text);
  const auto* url = std::get_if<safety::Url>(&parsed);
  if (url == nullptr) return 0;
  return url->host().size() + url->path().size() + url->query().size();
}

std::size_t parse_and_key(const std::string& text) {
  const auto parsed = safety::Url::parse(text);
  const auto* url = std::get_if<safety::Url>(&parsed);
  if (url == nullptr) return 0;
  const safety::PolicyKey key = safety::policy_key(*url);
  std::size_t sum = 0;
  for (const std::string_view expression : key.expressions()) sum += expression.size();
  return sum;
}

std::size_t size_of_part(CURLU* handle, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(handle, part, &text, 0) != CURLUE_OK) return 0;
  const std::size_t size = std::string_view(text).size();
  curl_free(text);
  return size;
}

std::size_t parse_by_curl(const std::string& text) {
  CURLU* handle = curl_url();
  std::size_t sum = 0;
  if (curl_url_set(handle, CURLUPART_URL, text.c_str(), CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK) {
    sum = size_of_part(handle, CURLUPART_HOST) + size_of_part(handle, CURLUPART_PATH) +
          size_of_part(handle, CURLUPART_QUERY);
  }
  curl_url_cleanup(handle);
  return sum;
}

// URLs per second of one pass over all.
template <typename Read>
double rate(const std::vector<std::string>& urls, const Read& read, std::size_t& sum) {
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string& url : urls) sum += read(url);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(urls.size()) / took.count();
}

std::size_t count_read(const std::vector<std::string>& urls,
                       std::size_t (*read)(const std::string&)) {
  std::size_t count = 0;
  for (const std::string& url : urls) {
    if (read(url) > 0) ++count;
  }
  return count;
}

void run(const Options& options) {
  const std::vector<std::string> urls = lines_of(options.file);
  Samples parsed;
  Samples keyed;
  Samples by_curl;
  std::size_t sum = 0;
  // In short turns, so that a change of the machine's speed meets all.
  constexpr int kTurns = 20;
  for (int round = 1; round <= options.common.rounds; ++round) {
    Samples parse_turns;
    Samples key_turns;
    Samples curl_turns;
    for (int turn = 0; turn < kTurns; ++turn) {
      curl_turns.add(rate(urls, parse_by_curl, sum));
      parse_turns.add(rate(urls, parse, sum));
      key_turns.add(rate(urls, parse_and_key, sum));
    }
    by_curl.add(curl_turns.median());
    parsed.add(parse_turns.median());
    keyed.add(key_turns.median());
  }
  const double parse_ratio = parsed.median() / by_curl.median();
  const double key_ratio = keyed.median() / by_curl.median();
  std::cout << urls.size() << " URLs, " << count_read(urls, parse) << " read by us and "
            << count_read(urls, parse_by_curl) << " by libcurl "
            << curl_version_info(CURLVERSION_NOW)->version << ", " << options.common.rounds
            << " rounds of " << kTurns << " turns, median (smallest-largest)\n\n";
  Table table({"side", "URLs/s", "ns/URL"});
  const auto add_row = [&table](const char* side, const Samples& samples) {
    table.add({side, samples.text(), short_number(1e9 / samples.median())});
  };
  add_row("parse", parsed);
  add_row("parse + policy key", keyed);
  add_row("libcurl", by_curl);
  std::cout << table.text() << "\nparse / libcurl: " << at_least(parse_ratio, kParseTarget)
            << "\nparse + policy key / libcurl: " << at_least(key_ratio, kKeyTarget)
            << "\n(check sum " << sum % 1000 << ")\n";
  const BenchResult result{
      .bench = "url",
      .sides = {{"parse_per_s", parsed.median()},
                {"parse_key_per_s", keyed.median()},
                {"libcurl_per_s", by_curl.median()}},
      .ratio = parse_ratio,
      .target = kParseTarget,
      .ratios = {{"parse/libcurl", parse_ratio}, {"parse+key/libcurl", key_ratio}}};
  if (options.common.is_json) std::cout << result.json() << "\n";
}

int main_of(int argc, char** argv) {
  const char* data = std::getenv("HAN_SAFETY_DATA");
  Options options;
  options.file = std::string(data != nullptr ? data : "../shared/data") + "/bench/userbait-a.txt";
  CLI::App app(
      "Real URLs, one a line: our parser, with and without the policy key and its expressions, "
      "against libcurl's URL API (set, then get host, path and query).",
      "bench-url");
  app.footer("Example: bench-url --file urls.txt --json");
  app.add_option("--file", options.file, "URLs, one a line")->capture_default_str();
  options.common.add_to(app);
  return bench_main(app, argc, argv, [&] { run(options); });
}

}  // namespace
}  // namespace han::tests

int main(int argc, char** argv) { return han::tests::main_of(argc, argv); }
