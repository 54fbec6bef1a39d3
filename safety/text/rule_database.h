// RuleDatabase: live rules compiled for scanning, one Vectorscan database per profile.
//
// Literals, words and phrases go in as escaped literals (equal ones once), words and phrases are
// checked for their boundaries at each match, regexes go in with UTF-8 and Unicode properties
// (under `fold` also caseless); url-host rules are left out. Vectorscan matches all of them in one
// pass in linear time, whatever the text. Source: Vectorscan 5.4 developer reference (Compiling
// Patterns, Scanning for Patterns).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "safety/text/rule.h"

namespace han::safety {

enum class [[nodiscard]] ScanOutcome : std::uint8_t{
    kScanned,
    kEngineError,  // nothing is known about the text; never "no hit"
};

class ScanScratch;

// Threads: immutable after construction; safe to share. Copies share the compiled form.
// Blocks:  never; compiling takes about a second for 50,000 words.
// Fails:   the constructor throws ConfigError with file, line, rule id and the engine's reason.
class RuleDatabase {
 public:
  // `file` is named in errors. Hits are indexes into `rules`.
  RuleDatabase(const std::string& file, std::span<const Rule> rules);

  // Scans a repaired text; the hits are in scratch.hits() then, none after an error.
  // Requires: valid UTF-8, at most 1 MiB; a scratch made for this database (checked).
  ScanOutcome scan(std::string_view repaired_text, ScanScratch& scratch) const;

  // The version of the engine that is linked in.
  static std::string engine_version();

 private:
  friend class ScanScratch;
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

// ScanScratch: the memory that a thread scans with, made for one database.
//
// Using Vectorscan's scratch with another database is a crash (intel/hyperscan#350), so a scratch
// remembers its database, keeps it alive, and a scan with another one ends the process.
//
// Threads: one at a time. Owns: about 100 KiB and the folded text. Fails: std::bad_alloc.
class ScanScratch {
 public:
  explicit ScanScratch(const RuleDatabase& database);
  ScanScratch(ScanScratch&&) noexcept;
  ScanScratch& operator=(ScanScratch&&) noexcept;
  ~ScanScratch();

  bool fits(const RuleDatabase& database) const { return compiled_ == database.compiled_; }
  // Indexes of the rules that hit in the last scan, ascending, each once.
  std::span<const std::uint32_t> hits() const { return hits_; }

 private:
  friend class RuleDatabase;
  struct Memory;
  std::shared_ptr<const RuleDatabase::Compiled> compiled_;
  std::unique_ptr<Memory> memory_;
  std::vector<std::uint32_t> hits_;
};

}  // namespace han::safety
