// YamlDocument: an operator's YAML file, checked once for everything that is wrong with any file.
//
// Config, rules and settings share it: size and UTF-8 are checked before parsing; anchors, aliases,
// tags, repeated keys, NUL, a second document and deep nesting are refused; every reader names the
// file, line and field in its error and never shows a value, because a value may be a secret.
// Source: YAML 1.2 (chapters 6-9), as far as yaml-cpp implements it.
//
//     const auto document = YamlDocument::load(path);
//     const YamlNode root = document.root();
//     root.allow_only({"schema", "threads", "lease"});
//     root.require_schema(1);
//     settings.threads = root.integer_or("threads", {1, 64}, 2);
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace han::safety {

// A file that an operator wrote is refused: "file:line: field: what is wrong and how to fix it".
// Line 0 means the file as a whole and is left out of the text. Threads: a value.
class ConfigError : public std::runtime_error {
 public:
  ConfigError(std::string file, int line, std::string field, std::string_view what_and_fix);
  const std::string& file() const { return file_; }
  int line() const { return line_; }
  const std::string& field() const { return field_; }
  const std::string& what_and_fix() const { return what_and_fix_; }

 private:
  std::string file_;
  int line_;
  std::string field_;
  std::string what_and_fix_;
};

struct YamlLimits {
  std::size_t bytes_max = std::size_t{1} << 20;
  std::size_t nodes_max = 100'000;
};

struct IntegerRange {  // both ends included
  std::int64_t min;
  std::int64_t max;
};

struct TextRange {  // length in bytes, both ends included
  std::size_t min;
  std::size_t max;
};

struct YamlEntry;
struct YamlTree;  // private to yaml_file.cpp

// One value of a document: a view, valid as long as the document.
//
// Threads: safe to share. Blocks: never.
// Fails:   every reader throws ConfigError when the value is not what it reads.
class YamlNode {
 public:
  int line() const;
  // The path from the root, such as "policy.categories.spam" or "rules[3].id"; "" for the root.
  std::string field() const;
  [[noreturn]] void fail(std::string_view what_and_fix) const;

  // Maps. A key that is present without a value is an error of the reader of that value.
  void allow_only(std::initializer_list<std::string_view> keys) const;
  std::optional<YamlNode> find(std::string_view key) const;
  YamlNode required(std::string_view key) const;
  std::vector<YamlEntry> entries(std::size_t count_max) const;  // in the order of the file
  void require_schema(std::int64_t version) const;

  bool is_list() const;
  std::vector<YamlNode> items(std::size_t count_max) const;  // lists

  // Scalars. Text takes quoted and plain scalars but not null; integers and booleans take only
  // plain ones (decimal; true, false).
  std::string text(TextRange bytes) const;
  std::int64_t integer(IntegerRange range) const;
  bool boolean() const;
  // Exactly one of `names`; gives its index.
  std::size_t choice(std::span<const std::string_view> names) const;
  template <typename Enum>
  Enum one_of(std::initializer_list<std::pair<std::string_view, Enum>> choices) const {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : choices) names.push_back(name);
    return (choices.begin() + choice(names))->second;
  }

  // The value of a key of this map, or the fallback when the key is absent.
  std::string text_or(std::string_view key, TextRange bytes, std::string fallback) const;
  std::int64_t integer_or(std::string_view key, IntegerRange range, std::int64_t fallback) const;
  bool boolean_or(std::string_view key, bool fallback) const;
  // The list of names (is_name) under a key of this map, sorted, none twice; empty when absent.
  std::vector<std::string> names(std::string_view key, std::size_t count_max) const;

 private:
  friend class YamlDocument;
  YamlNode(const YamlTree* tree, std::size_t index) : tree_(tree), index_(index) {}
  const std::string& scalar(std::string_view expected) const;
  const std::vector<std::uint32_t>& map_children() const;

  const YamlTree* tree_;
  std::size_t index_;
};

struct YamlEntry {
  std::string key;
  YamlNode value;
};

// Threads: immutable after construction; safe to share.
// Owns:    the parsed tree. Blocks: load() reads one regular file.
// Fails:   ConfigError. Limits: YamlLimits; 32 levels of nesting.
class YamlDocument {
 public:
  static YamlDocument load(const std::string& path, YamlLimits limits = {});
  // `name` stands for the file in errors.
  static YamlDocument parse(const std::string& name, std::string_view text, YamlLimits limits = {});

  YamlNode root() const;  // always a map

  YamlDocument(YamlDocument&&) noexcept;
  YamlDocument& operator=(YamlDocument&&) noexcept;
  ~YamlDocument();

 private:
  explicit YamlDocument(std::unique_ptr<const YamlTree> tree);
  std::unique_ptr<const YamlTree> tree_;
};

// 1-64 characters of a-z, 0-9, '.', '_' and '-': the form of rule ids and categories.
bool is_name(std::string_view text);

}  // namespace han::safety
