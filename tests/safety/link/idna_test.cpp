#include "safety/link/idna.h"

#include <gtest/gtest.h>

#include <string>

namespace han::tests {
namespace {

std::string ascii_of(const std::string& domain) {
  std::string out;
  const auto error = safety::append_domain_to_ascii(out, domain);
  return error ? "(" + std::string(to_string(*error)) + ")" : out;
}

TEST(Idna, MapsAndEncodes) {
  EXPECT_EQ(ascii_of("B\xC3\xBC\x63her.EXAMPLE"), "xn--bcher-kva.example");
  EXPECT_EQ(ascii_of("\xE6\x97\xA5\xE6\x9C\xAC\xEF\xBC\x8Ejp"), "xn--wgv71a.jp");
  // No length of the DNS, no rule about hyphens.
  EXPECT_EQ(ascii_of("-\xC3\xBC-"), "xn-----xka");
  const std::string name(300, 'a');
  EXPECT_EQ(ascii_of(name + ".\xC3\xBC"), name + ".xn--tda");
  // An empty label is none of its business.
  EXPECT_EQ(ascii_of("\xC3\xBC..x."), "xn--tda..x.");
}

// What UTS 46 changed after the oldest ICU that we build with.
TEST(Idna, MappingsOfLaterVersions) {
  EXPECT_EQ(ascii_of("\xD3\x80.com"), ascii_of("\xD3\x8F.com"));              // U+04C0
  EXPECT_EQ(ascii_of("\xE1\x82\xA0.com"), ascii_of("\xE2\xB4\x80.com"));      // U+10A0
  EXPECT_EQ(ascii_of("\xE1\x83\x85.com"), ascii_of("\xE2\xB4\xA5.com"));      // U+10C5
  EXPECT_EQ(ascii_of("\xE1\xBA\x9E.com"), "xn--zca.com");                     // U+1E9E
  EXPECT_EQ(ascii_of("\xE2\x84\xB2.com"), ascii_of("\xE2\x85\x8E.com"));      // U+2132
  EXPECT_EQ(ascii_of("\xF0\xAF\xA6\xBF.com"), ascii_of("\xE4\x97\x97.com"));  // U+2F9BF
  for (const char* ignored : {"\xE1\x85\x9F", "\xE1\x9E\xB5", "\xE1\xA0\x8E", "\xE2\x81\xA1",
                              "\xE2\x81\xAF", "\xE3\x85\xA4", "\xEF\xBE\xA0", "\xF0\x9D\x85\xBA"}) {
    EXPECT_EQ(ascii_of("a" + std::string(ignored) + "b.com"), "ab.com") << ignored;
  }
  EXPECT_EQ(ascii_of("\xF0\x9D\x85\xA5.com"), "(idna)");  // U+1D165, a mark
}

TEST(Idna, RefusesWhatUts46Refuses) {
  for (const char* domain : {
           "\xEF\xBF\xBD.com",             // a replacement character
           "xn--a.\xC3\xBC",               // no Punycode
           "xn--te\xC5\xA1la",             // an A-label that is not ASCII
           "\xE2\x80\x8D.example",         // a joiner without its context
           "\xD9\xA4\x61",                 // an Arabic digit before a Latin letter
           "look\xE2\x80\xAEout.example",  // an override of direction
           "\xCC\x80x",                    // a mark first
       }) {
    EXPECT_EQ(ascii_of(domain), "(idna)") << domain;
  }
}

TEST(Idna, BoundedInput) {
  const std::string suffix = ".\xC3\xBC";
  const std::string longest(safety::kIdnaBytesMax - suffix.size(), 'a');
  EXPECT_EQ(ascii_of(longest + suffix), longest + ".xn--tda");
  EXPECT_EQ(ascii_of(longest + "a" + suffix), "(host_length)");
}

}  // namespace
}  // namespace han::tests
