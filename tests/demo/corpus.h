// Corpus: the texts of the demo: real mails where npm is reachable, else messages of ours, with
// variations.
//
// A text's number decides it, so that a round can ask for texts seen before and for new ones.
//
// Threads: immutable after construction; safe to share.
// Blocks:  loading reads a file and may run corpus.sh.
// Fails:   std::runtime_error when no messages can be read.
#pragma once

#include <string>
#include <vector>

namespace han::tests {

class Corpus {
 public:
  // `source_dir` is the project's root; downloads are kept under `cache_dir`. `marker`, when not
  // empty, is part of every text. `allows_download` false: messages of ours at once.
  Corpus(const std::string& source_dir, const std::string& cache_dir, std::string marker,
         bool allows_download);

  // Text number `index`; different numbers give different texts.
  std::string text(std::size_t index) const;
  // What a person should know of where the texts come from.
  const std::string& description() const { return description_; }

 private:
  std::vector<std::string> base_;
  std::string marker_;
  std::string description_;
};

}  // namespace han::tests
