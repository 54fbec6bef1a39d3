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
