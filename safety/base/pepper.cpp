#include "safety/base/pepper.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "safety/base/hex.h"

namespace han::safety {
namespace {

constexpr std::size_t kKeyDigitsMin = 64;
constexpr std::size_t kIdCharactersMax = 16;

[[noreturn]] void fail(int line, const std::string& what) {
  throw PepperError("pepper file, line " + std::to_string(line) + ": " + what);
}

bool is_valid_id(std::string_view id) {
  return !id.empty() && id.size() <= kIdCharactersMax &&
         std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

Pepper parse_line(const std::string& text, int line) {
  std::istringstream fields(text);
  std::string id;
  std::string digits;
  std::string rest;
  fields >> id >> digits;
  if (fields >> rest) fail(line, "expected '<id> <hex key>' and nothing more");
  if (!is_valid_id(id)) fail(line, "the id must be 1-16 characters of a-z, 0-9, '_' and '-'");
  const auto key = from_hex(digits);
  if (!key || digits.size() < kKeyDigitsMin) {
    fail(line, "the key must be at least 64 hex digits (make one: openssl rand -hex 32)");
  }
  return Pepper{id, HmacKey(*key)};
}

}  // namespace

PepperSet parse_peppers(std::string_view file_text) {
  std::vector<Pepper> peppers;
  std::istringstream lines{std::string(file_text)};
  std::string text;
  int line = 0;
  while (std::getline(lines, text)) {
    ++line;
    text.erase(std::min(text.find('#'), text.size()));
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    peppers.push_back(parse_line(text, line));
    if (peppers.size() > 2) fail(line, "at most two peppers: the current and the previous one");
  }
  if (peppers.empty())
    fail(line + 1, "no pepper found (make one: echo \"p1 $(openssl rand -hex 32)\")");
  if (peppers.size() == 2 && peppers[0].id == peppers[1].id) {
    fail(line, "both peppers have the same id");
  }
  PepperSet set{std::move(peppers[0]), std::nullopt};
  if (peppers.size() == 2) set.previous = std::move(peppers[1]);
  return set;
}

PepperSet load_peppers(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw PepperError("pepper file " + path + " cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return parse_peppers(text.str());
}

}  // namespace han::safety
