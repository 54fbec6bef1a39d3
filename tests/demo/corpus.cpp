#include "tests/demo/corpus.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/support/process.h"

namespace han::tests {
namespace {

std::vector<std::string> read_json_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> texts;
  for (std::string line; std::getline(file, line);) {
    texts.push_back(nlohmann::json::parse(line).get<std::string>());
  }
  return texts;
}

// True when `out` holds the mails then.
bool fetch_mails(const std::string& source_dir, const std::string& cache_dir,
                 const std::string& out) {
  if (std::filesystem::exists(out)) return true;
  std::filesystem::create_directories(cache_dir);
  Process script({.argv = {"bash", source_dir + "/tests/demo/corpus.sh", out, cache_dir},
                  .output_path = cache_dir + "/corpus.log"});
  const auto status = script.wait(safety::Deadline::after(std::chrono::minutes(3)));
  return status && status->code == 0;
}

}  // namespace

Corpus::Corpus(const std::string& source_dir, const std::string& cache_dir, std::string marker,
               bool allows_download)
    : marker_(std::move(marker)) {
  const std::string mails = cache_dir + "/mails.jsonl";
  if (allows_download && fetch_mails(source_dir, cache_dir, mails)) {
    base_ = read_json_lines(mails);
    description_ = "SpamAssassin public corpus";
  } else {
    base_ = read_json_lines(source_dir + "/tests/demo/messages.jsonl");
    description_ = "messages of ours (the mail corpus was not fetched)";
  }
  if (base_.empty()) throw std::runtime_error("the demo has no messages");
  description_ += ", " + std::to_string(base_.size()) + " texts with variations";
}

std::string Corpus::text(std::size_t index) const {
  std::string text = base_[index % base_.size()];
  const std::size_t variation = index / base_.size();
  if (variation > 0) text += " (" + std::to_string(variation) + ")";
  if (marker_.empty()) return text;
  text += " " + marker_;
  // And a link that has it in its host and its path.
  if (index % 2 == 0) text += " https://www." + marker_ + ".example/" + marker_ + "?q=" + marker_;
  return text;
}

}  // namespace han::tests
