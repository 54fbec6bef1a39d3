#include "safety/yaml_file.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "safety/base/check.h"
#include "safety/text/utf8.h"

namespace han::safety {
namespace {

constexpr std::size_t kDepthMax = 32;

enum class Kind : std::uint8_t { kNull, kPlain, kQuoted, kList, kMap };

std::string describe(const std::string& file, int line, const std::string& field,
                     std::string_view what_and_fix) {
  std::string text = file;
  if (line > 0) text += ":" + std::to_string(line);
  if (!field.empty()) text += ": " + field;
  return text.append(": ").append(what_and_fix);
}

}  // namespace

struct YamlTree {
  struct Node {
    Kind kind = Kind::kNull;
    int line = 0;
    std::uint32_t parent = 0;
    std::string scalar;
    std::vector<std::uint32_t> children;  // of a map: key, value, key, value, ...
  };

  std::string file;
  std::vector<Node> nodes;

  [[noreturn]] void fail(int line, const std::string& field, std::string_view what) const {
    throw ConfigError(file, line, field, what);
  }

  std::string field_of(std::size_t index) const {
    if (index == 0) return "";
    const Node& node = nodes[index];
    const Node& parent = nodes[node.parent];
    const auto at = static_cast<std::size_t>(
        std::find(parent.children.begin(), parent.children.end(), index) - parent.children.begin());
    std::string prefix = field_of(node.parent);
    if (parent.kind == Kind::kList) {
      return prefix.append("[").append(std::to_string(at)).append("]");
    }
    const std::string& key = nodes[parent.children[at - at % 2]].scalar;
    if (!prefix.empty()) prefix += ".";
    return prefix + (is_name(key) ? key : "(a key not shown)");
  }
};

namespace {

// Builds the tree from yaml-cpp's events, which keeps aliases from multiplying the document.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(YamlTree& tree, YamlLimits limits) : tree_(tree), limits_(limits) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (tree_.nodes.empty()) return;
    tree_.fail(mark.line + 1, "", "a second YAML document starts here; remove it");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(mark, Kind::kNull, "", anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    tree_.fail(mark.line + 1, "", "aliases are not supported; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (tag != "?" && tag != "!" && !tag.empty()) refuse_tag(mark);
    if (value.find('\0') != std::string::npos) {
      tree_.fail(mark.line + 1, "", "a value holds the NUL character; remove it");
    }
    const auto index = add(mark, tag == "!" ? Kind::kQuoted : Kind::kPlain, tag, anchor);
    tree_.nodes[index].scalar = value;
    check_key(index);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(add(mark, Kind::kList, tag, anchor));
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(add(mark, Kind::kMap, tag, anchor));
    keys_.emplace_back();
  }
  void OnMapEnd() override {
    open_.pop_back();
    keys_.pop_back();
  }

 private:
  [[noreturn]] void refuse_tag(const YAML::Mark& mark) const {
    tree_.fail(mark.line + 1, "", "tags are not supported; remove the tag");
  }

  std::uint32_t add(const YAML::Mark& mark, Kind kind, const std::string& tag,
                    YAML::anchor_t anchor) {
    if (anchor != 0) {
      tree_.fail(mark.line + 1, "", "anchors are not supported; remove the anchor");
    }
    if (!tag.empty() && tag != "?" && tag != "!") refuse_tag(mark);
    if (tree_.nodes.size() >= limits_.nodes_max) {
      tree_.fail(mark.line + 1, "",
                 "more than " + std::to_string(limits_.nodes_max) + " values; split the file");
    }
    const auto index = static_cast<std::uint32_t>(tree_.nodes.size());
    YamlTree::Node node;
    node.kind = kind;
    node.line = mark.line + 1;
    if (!open_.empty()) {
      YamlTree::Node& parent = tree_.nodes[open_.back()];
      node.parent = open_.back();
      const bool is_key = parent.kind == Kind::kMap && parent.children.size() % 2 == 0;
      if (is_key && kind != Kind::kPlain && kind != Kind::kQuoted) {
        tree_.fail(node.line, "", "a key must be a word, not a list, a map or nothing");
      }
      // The parser sees that a value is missing only on a later line.
      if (!is_key && kind == Kind::kNull && parent.kind == Kind::kMap) {
        node.line = tree_.nodes[parent.children.back()].line;
      }
      parent.children.push_back(index);
    }
    tree_.nodes.push_back(std::move(node));
    return index;
  }

  void open(std::uint32_t index) {
    if (open_.size() >= kDepthMax) {
      tree_.fail(tree_.nodes[index].line, "", "nested more than 32 levels deep; flatten it");
    }
    open_.push_back(index);
  }

  // A repeated key would silently lose one of its values.
  void check_key(std::uint32_t index) {
    if (open_.empty()) return;
    const YamlTree::Node& parent = tree_.nodes[open_.back()];
    if (parent.kind != Kind::kMap || parent.children.size() % 2 == 0) return;
    auto& keys = keys_.back();
    const std::string& key = tree_.nodes[index].scalar;
    const auto at = std::lower_bound(keys.begin(), keys.end(), key);
    if (at != keys.end() && *at == key) {
      tree_.fail(tree_.nodes[index].line, tree_.field_of(index), "given twice; remove one of them");
    }
    keys.insert(at, key);
  }

  YamlTree& tree_;
  const YamlLimits limits_;
  std::vector<std::uint32_t> open_;
  std::vector<std::vector<std::string>> keys_;  // of each open map, sorted
};

int line_of(std::string_view text, std::size_t offset) {
  return 1 +
         static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(offset), '\n'));
}

void check_text(const YamlTree& tree, std::string_view text, YamlLimits limits) {
  if (text.size() > limits.bytes_max) {
    tree.fail(0, "",
              "larger than the limit of " + std::to_string(limits.bytes_max) +
                  " bytes; is it the right file?");
  }
  const std::size_t invalid = find_invalid_utf8(text);
  if (invalid != std::string_view::npos) {
    tree.fail(line_of(text, invalid), "", "not valid UTF-8; save the file as UTF-8");
  }
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    tree.fail(line_of(text, nul), "", "holds a NUL character; remove it");
  }
}

// yaml-cpp's messages name what is wrong; after a colon some of them quote the file.
std::string syntax_message(const std::string& message) {
  return "not valid YAML (" + message.substr(0, message.find(':')) +
         "); check the indentation and quotes";
}

void parse_tree(YamlTree& tree, std::string_view text, YamlLimits limits) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder(tree, limits);
    // The builder refuses a second document.
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    tree.fail(error.mark.is_null() ? 0 : error.mark.line + 1, "", syntax_message(error.msg));
  }
  if (tree.nodes.empty() || tree.nodes[0].kind == Kind::kNull) {
    tree.fail(0, "", "the file is empty; it must start with 'schema: 1'");
  }
  if (tree.nodes[0].kind != Kind::kMap) {
    tree.fail(tree.nodes[0].line, "",
              "must be a map of 'key: value' lines starting with 'schema: 1'");
  }
}

std::string read_file(const std::string& path, YamlLimits limits) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw ConfigError(path, 0, "", "no such file; check the path");
  }
  if (status.type() != std::filesystem::file_type::regular) {
    throw ConfigError(path, 0, "", "not a readable regular file; check the path");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ConfigError(path, 0, "", "cannot be opened; check its permissions");
  // One byte more than the limit is enough to see that the file is too large.
  std::string text(limits.bytes_max + 1, '\0');
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size < limits.bytes_max) text.resize(static_cast<std::size_t>(size) + 1);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw ConfigError(path, 0, "", "cannot be read to the end");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

ConfigError::ConfigError(std::string file, int line, std::string field,
                         std::string_view what_and_fix)
    : std::runtime_error(describe(file, line, field, what_and_fix)),
      file_(std::move(file)),
      line_(line),
      field_(std::move(field)),
      what_and_fix_(what_and_fix) {}

int YamlNode::line() const { return tree_->nodes[index_].line; }

std::string YamlNode::field() const { return tree_->field_of(index_); }

void YamlNode::fail(std::string_view what_and_fix) const {
  tree_->fail(line(), field(), what_and_fix);
}

const std::vector<std::uint32_t>& YamlNode::map_children() const {
  const YamlTree::Node& node = tree_->nodes[index_];
  if (node.kind != Kind::kMap) fail("must be a map of 'key: value' lines");
  return node.children;
}

void YamlNode::allow_only(std::initializer_list<std::string_view> keys) const {
  const auto& children = map_children();
  for (std::size_t i = 0; i < children.size(); i += 2) {
    const YamlTree::Node& key = tree_->nodes[children[i]];
    if (std::find(keys.begin(), keys.end(), key.scalar) != keys.end()) continue;
    std::string known;
    for (const std::string_view name : keys) known.append(known.empty() ? "" : ", ").append(name);
    tree_->fail(key.line, tree_->field_of(children[i]), "unknown key; known keys are: " + known);
  }
}

std::optional<YamlNode> YamlNode::find(std::string_view key) const {
  const auto& children = map_children();
  for (std::size_t i = 0; i < children.size(); i += 2) {
    if (tree_->nodes[children[i]].scalar == key) return YamlNode(tree_, children[i + 1]);
  }
  return std::nullopt;
}

YamlNode YamlNode::required(std::string_view key) const {
  const auto found = find(key);
  if (!found) fail("the key '" + std::string(key) + "' is missing; add it");
  return *found;
}

std::vector<YamlEntry> YamlNode::entries(std::size_t count_max) const {
  const auto& children = map_children();
  if (children.size() / 2 > count_max) {
    fail("more than " + std::to_string(count_max) + " entries; remove some");
  }
  std::vector<YamlEntry> out;
  for (std::size_t i = 0; i < children.size(); i += 2) {
    out.push_back({tree_->nodes[children[i]].scalar, YamlNode(tree_, children[i + 1])});
  }
  return out;
}

void YamlNode::require_schema(std::int64_t version) const {
  const YamlNode schema = required("schema");
  if (schema.integer({0, INT64_MAX}) != version) {
    schema.fail("this program reads schema " + std::to_string(version) + " only");
  }
}

bool YamlNode::is_list() const { return tree_->nodes[index_].kind == Kind::kList; }

std::vector<YamlNode> YamlNode::items(std::size_t count_max) const {
  const YamlTree::Node& node = tree_->nodes[index_];
  if (node.kind != Kind::kList) fail("must be a list");
  if (node.children.size() > count_max) {
    fail("more than " + std::to_string(count_max) + " items; remove some");
  }
  std::vector<YamlNode> out;
  for (const std::uint32_t child : node.children) out.push_back(YamlNode(tree_, child));
  return out;
}

const std::string& YamlNode::scalar(std::string_view expected) const {
  const YamlTree::Node& node = tree_->nodes[index_];
  if (node.kind == Kind::kPlain || node.kind == Kind::kQuoted) return node.scalar;
  fail(std::string("must be ").append(expected));
}

std::string YamlNode::text(TextRange bytes) const {
  const std::string& value = scalar("text (in quotes when it is a word such as null)");
  if (value.size() >= bytes.min && value.size() <= bytes.max) return value;
  if (value.empty()) fail("must not be empty");
  fail("must have " + std::to_string(bytes.min) + " to " + std::to_string(bytes.max) +
       " bytes, not " + std::to_string(value.size()));
}

std::int64_t YamlNode::integer(IntegerRange range) const {
  const std::string expected = "a whole number from " + std::to_string(range.min) + " to " +
                               std::to_string(range.max) + ", without quotes";
  const std::string& digits = scalar(expected);
  std::int64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  const bool is_plain = tree_->nodes[index_].kind == Kind::kPlain;
  if (!is_plain || error != std::errc() || stop != end || value < range.min || value > range.max) {
    fail("must be " + expected);
  }
  return value;
}

bool YamlNode::boolean() const {
  const std::string& value = scalar("true or false");
  const bool is_plain = tree_->nodes[index_].kind == Kind::kPlain;
  if (!is_plain || (value != "true" && value != "false")) fail("must be true or false");
  return value == "true";
}

std::size_t YamlNode::choice(std::span<const std::string_view> names) const {
  std::string expected = "one of:";
  for (const std::string_view name : names) expected.append(" ").append(name);
  const std::string& value = scalar(expected);
  const auto found = std::find(names.begin(), names.end(), value);
  if (found == names.end()) fail("must be " + expected);
  return static_cast<std::size_t>(found - names.begin());
}

std::string YamlNode::text_or(std::string_view key, TextRange bytes, std::string fallback) const {
  const auto node = find(key);
  return node ? node->text(bytes) : std::move(fallback);
}

std::int64_t YamlNode::integer_or(std::string_view key, IntegerRange range,
                                  std::int64_t fallback) const {
  const auto node = find(key);
  return node ? node->integer(range) : fallback;
}

bool YamlNode::boolean_or(std::string_view key, bool fallback) const {
  const auto node = find(key);
  return node ? node->boolean() : fallback;
}

YamlDocument::YamlDocument(std::unique_ptr<const YamlTree> tree) : tree_(std::move(tree)) {}
YamlDocument::YamlDocument(YamlDocument&&) noexcept = default;
YamlDocument& YamlDocument::operator=(YamlDocument&&) noexcept = default;
YamlDocument::~YamlDocument() = default;

YamlDocument YamlDocument::load(const std::string& path, YamlLimits limits) {
  return parse(path, read_file(path, limits), limits);
}

YamlDocument YamlDocument::parse(const std::string& name, std::string_view text,
                                 YamlLimits limits) {
  auto tree = std::make_unique<YamlTree>();
  tree->file = name;
  check_text(*tree, text, limits);
  parse_tree(*tree, text, limits);
  return YamlDocument(std::move(tree));
}

YamlNode YamlDocument::root() const { return YamlNode(tree_.get(), 0); }

std::vector<std::string> YamlNode::names(std::string_view key, std::size_t count_max) const {
  std::vector<std::string> out;
  const auto list = find(key);
  if (!list) return out;
  for (const YamlNode& item : list->items(count_max)) {
    std::string name = item.text({1, 64});
    if (!is_name(name)) item.fail("must be 1-64 characters of a-z, 0-9, '.', '_' and '-'");
    if (std::find(out.begin(), out.end(), name) != out.end()) {
      item.fail("given twice; remove one of them");
    }
    out.push_back(std::move(name));
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  });
}

}  // namespace han::safety
