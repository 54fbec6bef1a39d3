#include "safety/link/url_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace han::tests {
namespace {

using safety::Url;
using safety::UrlError;

std::string resolve(std::string_view text, std::string_view base_text = {}) {
  const auto base = Url::parse(base_text);
  const auto parsed = safety::UrlParser(std::get_if<Url>(&base)).run(text);
  const auto* error = std::get_if<UrlError>(&parsed);
  return error != nullptr ? "(" + std::string(to_string(*error)) + ")"
                          : std::get<Url>(parsed).href();
}

using Sample = std::tuple<const char*, const char*, const char*>;

TEST(UrlParser, ResolvesAgainstABase) {
  const char* base = "http://u:p@h.example:81/a/b/c?q#f";
  for (const auto& [text, expected] : {std::pair{"", "http://u:p@h.example:81/a/b/c?q"},
                                       {"#x", "http://u:p@h.example:81/a/b/c?q#x"},
                                       {"?x", "http://u:p@h.example:81/a/b/c?x"},
                                       {"x", "http://u:p@h.example:81/a/b/x"},
                                       {"../x", "http://u:p@h.example:81/a/x"},
                                       {"../../../x", "http://u:p@h.example:81/x"},
                                       {"/x", "http://u:p@h.example:81/x"},
                                       {"\\x", "http://u:p@h.example:81/x"},
                                       {"//x", "http://x/"},
                                       {"\\/\\x", "http://x/"},
                                       {"http:x", "http://u:p@h.example:81/a/b/x"},
                                       {"http:/x", "http://u:p@h.example:81/x"},
                                       {"http://x", "http://x/"},
                                       {"https:x", "https://x/"},
                                       {"mailto:x", "mailto:x"},
                                       {".", "http://u:p@h.example:81/a/b/"},
                                       {"%2E%2e/x", "http://u:p@h.example:81/a/x"}}) {
    EXPECT_EQ(resolve(text, base), expected) << text;
  }
}

TEST(UrlParser, OtherBases) {
  const Sample samples[] = {
      {"#x", "mailto:a?b#c", "mailto:a?b#x"},
      {"x", "mailto:a", "(no_scheme)"},
      {"x", "web+x:/.//a/b", "web+x:/.//a/x"},
      {"", "web+x:/.//a/b", "web+x:/.//a/b"},
      {"#f", "web+x:/.//a/b", "web+x:/.//a/b#f"},
      {"/x", "web+x://h", "web+x://h/x"},
      {"x", "web+x://h", "web+x://h/x"},
      {"?q", "web+x://h", "web+x://h?q"},
      {"x", "", "(no_scheme)"},
  };
  for (const auto& [text, base, expected] : samples) {
    EXPECT_EQ(resolve(text, base), expected) << text << " of " << base;
  }
}

TEST(UrlParser, FilesAndDriveLetters) {
  const Sample samples[] = {
      {"file:c:\\x\\..\\..\\y", "", "file:///c:/y"},
      {"file://localhost/x", "", "file:///x"},
      {"file://h/C|/../x", "", "file://h/C:/x"},
      {"file:///C%7C/../x", "", "file:///x"},
      {"/x", "file:///C:/a", "file:///C:/x"},
      {"/D|/x", "file:///C:/a", "file:///D:/x"},
      {"D|", "file:///C:/a/b", "file:///D:"},
      {"D|x", "file:///C:/a/b", "file:///C:/a/D|x"},
      {"..", "file:///C:/", "file:///C:/"},
      {"//h/x", "file:///C:/a", "file://h/x"},
      {"file:x", "http://h/", "file:///x"},
      {"file://u@h/", "", "(host_code)"},
      {"file://h:1/", "", "(host_code)"},
  };
  for (const auto& [text, base, expected] : samples) {
    EXPECT_EQ(resolve(text, base), expected) << text << " of " << base;
  }
}

TEST(UrlParser, PathsOfDots) {
  const std::pair<const char*, const char*> samples[] = {
      {"http://h/a/./b/../c/.", "http://h/a/c/"},
      {"http://h/..", "http://h/"},
      {"http://h/a/%2e%2E", "http://h/"},
      {"http://h/a/.%2e?q", "http://h/?q"},
      {"http://h/...", "http://h/..."},
      {"http://h/a//../b", "http://h/a/b"},
      {"http://h/.a/..b/c.", "http://h/.a/..b/c."},
      {"http://h/%2e%2e%2e", "http://h/%2e%2e%2e"},
      {"http://h\\a\\..\\b", "http://h/b"},
      {"web+x:/a/..//b", "web+x:/.//b"},
      {"web+x://h/a\\..\\b", "web+x://h/a\\..\\b"},
  };
  for (const auto& [text, expected] : samples) EXPECT_EQ(resolve(text), expected) << text;
}

TEST(UrlParser, SpacesOfOpaquePaths) {
  EXPECT_EQ(resolve("data:a  ?b"), "data:a %20?b");
  EXPECT_EQ(resolve("data:a #b"), "data:a%20#b");
  EXPECT_EQ(resolve("data:a b  "), "data:a b");
}

}  // namespace
}  // namespace han::tests
