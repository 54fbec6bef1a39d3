#include "safety/text/rule_database.h"

#include <hs.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <new>
#include <tuple>
#include <utility>

#include "safety/base/check.h"
#include "safety/text/fold.h"
#include "safety/text/word_boundary.h"
#include "safety/yaml_file.h"

namespace han::safety {
namespace {

// A folded text longer than this is given back after the scan.
constexpr std::size_t kFoldedBytesKept = std::size_t{256} << 10;

struct DatabaseDeleter {
  void operator()(hs_database_t* database) const { hs_free_database(database); }
};
struct ScratchDeleter {
  void operator()(hs_scratch_t* scratch) const { hs_free_scratch(scratch); }
};
struct CompileErrorDeleter {
  void operator()(hs_compile_error_t* error) const { hs_free_compile_error(error); }
};
struct ExpressionInfoDeleter {
  void operator()(hs_expr_info_t* info) const { std::free(info); }
};
using DatabaseHandle = std::unique_ptr<hs_database_t, DatabaseDeleter>;
using ScratchHandle = std::unique_ptr<hs_scratch_t, ScratchDeleter>;
using CompileErrorHandle = std::unique_ptr<hs_compile_error_t, CompileErrorDeleter>;
using ExpressionInfoHandle = std::unique_ptr<hs_expr_info_t, ExpressionInfoDeleter>;

// One pattern of the engine; rules with equal patterns share it.
struct Expression {
  bool is_word = false;   // the boundaries of each match are checked
  std::size_t bytes = 0;  // length of the pattern, when is_word
  std::vector<std::uint32_t> rules;
};

struct ProfileDatabase {
  DatabaseHandle database;  // null when no rule has the profile
  std::vector<Expression> expressions;
};

struct Pattern {
  std::string source;  // in the engine's syntax
  unsigned flags;
  Expression expression;
};

// Every byte is escaped, so that no character of a literal has a meaning.
std::string escape(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 4);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.append("\\x").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
  }
  return out;
}

unsigned regex_flags(RuleProfile profile) {
  constexpr unsigned kFlags = HS_FLAG_UTF8 | HS_FLAG_UCP;
  return profile == RuleProfile::kFold ? kFlags | HS_FLAG_CASELESS : kFlags;
}

[[noreturn]] void refuse(const std::string& file, const Rule& rule, std::string reason) {
  while (!reason.empty() && reason.back() == '.') reason.pop_back();
  throw ConfigError(file, rule.line, "rule " + rule.id + ": pattern",
                    "the engine refuses it: " + reason +
                        "; it takes no back-references, look-around, \\b, \\N or empty matches");
}

// Asked one by one, so that the error is surely about this rule.
void check_regex(const std::string& file, const Rule& rule) {
  hs_expr_info_t* raw_info = nullptr;
  hs_compile_error_t* raw_error = nullptr;
  const hs_error_t status =
      hs_expression_info(rule.pattern.c_str(), regex_flags(rule.profile), &raw_info, &raw_error);
  const ExpressionInfoHandle info(raw_info);
  const CompileErrorHandle error(raw_error);
  if (status != HS_SUCCESS) refuse(file, rule, error ? error->message : "unknown reason");
  if (info->min_width == 0) refuse(file, rule, "the pattern can match the empty text");
}

Pattern pattern_of(const std::string& file, const Rule& rule) {
  if (rule.kind == RuleKind::kRegex) {
    check_regex(file, rule);
    return {rule.pattern, regex_flags(rule.profile), {}};
  }
  std::string buffer;
  std::string_view bytes = rule.pattern;
  if (rule.profile == RuleProfile::kFold) bytes = fold(rule.pattern, buffer);
  const bool is_word = rule.kind != RuleKind::kLiteral;
  if (is_word) {
    bytes.remove_prefix(std::min(bytes.find_first_not_of(' '), bytes.size()));
    bytes.remove_suffix(bytes.size() - (bytes.find_last_not_of(' ') + 1));
  }
  if (bytes.empty()) refuse(file, rule, "nothing is left of the pattern");
  return {escape(bytes), 0, {is_word, bytes.size(), {}}};
}

std::vector<Pattern> patterns_of(const std::string& file, std::span<const Rule> rules,
                                 RuleProfile profile) {
  std::vector<Pattern> patterns;
  std::map<std::tuple<bool, unsigned, std::string>, std::size_t> known;
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    if (rules[i].profile != profile || rules[i].kind == RuleKind::kUrlHost) continue;
    Pattern pattern = pattern_of(file, rules[i]);
    const auto [at, is_new] =
        known.emplace(std::make_tuple(pattern.expression.is_word, pattern.flags, pattern.source),
                      patterns.size());
    if (is_new) patterns.push_back(std::move(pattern));
    patterns[at->second].expression.rules.push_back(i);
  }
  return patterns;
}

ProfileDatabase compile(const std::string& file, std::span<const Rule> rules, RuleProfile profile) {
  ProfileDatabase out;
  std::vector<Pattern> patterns = patterns_of(file, rules, profile);
  if (patterns.empty()) return out;
  std::vector<const char*> sources;
  std::vector<unsigned> flags;
  std::vector<unsigned> ids;
  for (Pattern& pattern : patterns) {
    ids.push_back(static_cast<unsigned>(ids.size()));
    sources.push_back(pattern.source.c_str());
    flags.push_back(pattern.flags);
    out.expressions.push_back(std::move(pattern.expression));
  }
  hs_database_t* database = nullptr;
  hs_compile_error_t* raw_error = nullptr;
  const hs_error_t status =
      hs_compile_multi(sources.data(), flags.data(), ids.data(), static_cast<unsigned>(ids.size()),
                       HS_MODE_BLOCK, nullptr, &database, &raw_error);
  out.database.reset(database);
  const CompileErrorHandle error(raw_error);
  if (status == HS_SUCCESS) return out;
  const std::string reason = error ? error->message : "unknown reason";
  if (error && error->expression >= 0) {
    const auto index = static_cast<std::size_t>(error->expression);
    refuse(file, rules[out.expressions.at(index).rules.front()], reason);
  }
  throw ConfigError(file, 0, "", "the engine cannot compile the rules together: " + reason);
}

}  // namespace

struct RuleDatabase::Compiled {
  ProfileDatabase raw;
  ProfileDatabase folded;
  std::size_t rule_count = 0;
};

struct ScanScratch::Memory {
  ScratchHandle scratch;
  std::string folded;
  std::vector<std::uint8_t> is_hit;  // by rule; all zero between scans
};

namespace {

struct Scan {
  const ProfileDatabase& profile;
  std::string_view text;
  std::vector<std::uint8_t>& is_hit;
  std::vector<std::uint32_t>& hits;  // has room for every rule, so that nothing here throws
};

int on_match(unsigned id, unsigned long long, unsigned long long to, unsigned, void* context) {
  Scan& scan = *static_cast<Scan*>(context);
  const Expression& expression = scan.profile.expressions[id];
  if (scan.is_hit[expression.rules.front()] != 0) return 0;
  const auto end = static_cast<std::size_t>(to);
  if (expression.is_word && !is_at_word_boundaries(scan.text, end - expression.bytes, end)) {
    return 0;
  }
  for (const std::uint32_t rule : expression.rules) {
    scan.is_hit[rule] = 1;
    scan.hits.push_back(rule);
  }
  return 0;
}

bool scan_profile(Scan scan, hs_scratch_t* scratch) {
  const char* data = scan.text.empty() ? "" : scan.text.data();
  return hs_scan(scan.profile.database.get(), data, static_cast<unsigned>(scan.text.size()), 0,
                 scratch, on_match, &scan) == HS_SUCCESS;
}

}  // namespace

RuleDatabase::RuleDatabase(const std::string& file, std::span<const Rule> rules) {
  if (hs_valid_platform() != HS_SUCCESS) {
    throw ConfigError(file, 0, "", "this processor lacks the instructions that Vectorscan needs");
  }
  auto compiled = std::make_shared<Compiled>();
  compiled->raw = compile(file, rules, RuleProfile::kRaw);
  compiled->folded = compile(file, rules, RuleProfile::kFold);
  compiled->rule_count = rules.size();
  compiled_ = std::move(compiled);
}

std::string RuleDatabase::engine_version() { return std::string("Vectorscan ") + hs_version(); }

ScanOutcome RuleDatabase::scan(std::string_view repaired_text, ScanScratch& scratch) const {
  SAFETY_CHECK(scratch.fits(*this));
  scratch.hits_.clear();
  ScanScratch::Memory& memory = *scratch.memory_;
  bool is_scanned = true;
  if (compiled_->raw.database) {
    is_scanned = scan_profile({compiled_->raw, repaired_text, memory.is_hit, scratch.hits_},
                              memory.scratch.get());
  }
  if (is_scanned && compiled_->folded.database) {
    const std::string_view folded = fold(repaired_text, memory.folded);
    is_scanned = scan_profile({compiled_->folded, folded, memory.is_hit, scratch.hits_},
                              memory.scratch.get());
    if (memory.folded.capacity() > kFoldedBytesKept) std::string().swap(memory.folded);
  }
  for (const std::uint32_t rule : scratch.hits_) memory.is_hit[rule] = 0;
  if (!is_scanned) {
    scratch.hits_.clear();
    return ScanOutcome::kEngineError;
  }
  std::sort(scratch.hits_.begin(), scratch.hits_.end());
  return ScanOutcome::kScanned;
}

ScanScratch::ScanScratch(const RuleDatabase& database)
    : compiled_(database.compiled_), memory_(std::make_unique<Memory>()) {
  hs_scratch_t* scratch = nullptr;
  for (const ProfileDatabase* profile : {&compiled_->raw, &compiled_->folded}) {
    if (!profile->database) continue;
    const hs_error_t status = hs_alloc_scratch(profile->database.get(), &scratch);
    if (status != HS_SUCCESS) {
      memory_->scratch.reset(scratch);
      throw std::bad_alloc();
    }
  }
  memory_->scratch.reset(scratch);
  memory_->is_hit.resize(compiled_->rule_count);
  hits_.reserve(compiled_->rule_count);
}

ScanScratch::ScanScratch(ScanScratch&&) noexcept = default;
ScanScratch& ScanScratch::operator=(ScanScratch&&) noexcept = default;
ScanScratch::~ScanScratch() = default;

}  // namespace han::safety
