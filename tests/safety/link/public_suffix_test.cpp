#include "safety/link/public_suffix.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

using safety::PublicSuffixes;

void expect_usual_answers(const PublicSuffixes& suffixes) {
  EXPECT_TRUE(suffixes.is_public_suffix("com"));
  EXPECT_TRUE(suffixes.is_public_suffix("co.uk"));
  EXPECT_TRUE(suffixes.is_public_suffix("github.io"));    // the private part
  EXPECT_TRUE(suffixes.is_public_suffix("xn--p1ai"));     // an A-label
  EXPECT_TRUE(suffixes.is_public_suffix("nosuchtld"));    // the rule "*"
  EXPECT_TRUE(suffixes.is_public_suffix("anything.ck"));  // the rule "*.ck"
  EXPECT_FALSE(suffixes.is_public_suffix("www.ck"));      // its exception
  EXPECT_FALSE(suffixes.is_public_suffix("example.com"));
  EXPECT_FALSE(suffixes.is_public_suffix("a.nosuchtld"));

  EXPECT_EQ(suffixes.registrable_domain("a.b.example.co.uk"), "example.co.uk");
  EXPECT_EQ(suffixes.registrable_domain("example.com"), "example.com");
  EXPECT_EQ(suffixes.registrable_domain("me.github.io"), "me.github.io");
  EXPECT_EQ(suffixes.registrable_domain("a.xn--80aswg"), "a.xn--80aswg");
  EXPECT_EQ(suffixes.registrable_domain("com"), std::nullopt);

  EXPECT_TRUE(suffixes.has_known_suffix("example.com"));
  EXPECT_TRUE(suffixes.has_known_suffix("virus.cz"));
  for (const char* wildcard_only : {"a.b.ck", "a.b.er", "a.b.np", "a.b.mm", "www.ck"}) {
    EXPECT_TRUE(suffixes.has_known_suffix(wildcard_only)) << wildcard_only;
  }
  EXPECT_TRUE(suffixes.has_known_suffix("xn--e1afmkfd.xn--p1ai"));
  EXPECT_FALSE(suffixes.has_known_suffix("main.cpp"));
  EXPECT_FALSE(suffixes.has_known_suffix("a.local"));
  EXPECT_FALSE(suffixes.has_known_suffix("10.1.2.3"));
}

TEST(PublicSuffixes, S12_TheSystemsListAnswers) {
  expect_usual_answers(PublicSuffixes::system());
  EXPECT_EQ(&PublicSuffixes::system(), &PublicSuffixes::system());
}

TEST(PublicSuffixes, TheBuiltInListServesWithoutAFile) {
  const PublicSuffixes suffixes("/nowhere/at-all.dafsa");
  EXPECT_TRUE(suffixes.is_built_in());
  EXPECT_EQ(suffixes.version().size(), 32U);
  expect_usual_answers(suffixes);
}

TEST(PublicSuffixes, AFileThatIsNoListIsNotUsed) {
  const TempDir folder;
  for (const std::string content : {"", "\n", "// a comment alone\n", ".DAFSA@PSL_0   \n", "x"}) {
    const std::string path = folder.file("list");
    std::ofstream(path) << content;
    EXPECT_TRUE(PublicSuffixes(path).is_built_in()) << content;
  }
}

TEST(PublicSuffixes, TheVersionIsThatOfTheContent) {
  const TempDir folder;
  const std::string one = folder.file("one");
  const std::string other = folder.file("other");
  std::ofstream(one) << "com\nco.uk\n";
  std::ofstream(other) << "com\nco.uk\norg\n";
  const PublicSuffixes first(one);
  EXPECT_FALSE(first.is_built_in());
  EXPECT_EQ(first.version(), PublicSuffixes(one).version());
  EXPECT_NE(first.version(), PublicSuffixes(other).version());
  EXPECT_NE(first.version(), PublicSuffixes::system().version());
  EXPECT_EQ(first.registrable_domain("a.b.co.uk"), "b.co.uk");
}

TEST(PublicSuffixes, WhatIsNoNameHasNoAnswer) {
  const PublicSuffixes& suffixes = PublicSuffixes::system();
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".com"), std::string("com."),
        std::string("a..com"), std::string("com\0x", 5), std::string(300, 'a')}) {
    EXPECT_FALSE(suffixes.is_public_suffix(name)) << name;
    EXPECT_EQ(suffixes.registrable_domain(name), std::nullopt) << name;
    EXPECT_FALSE(suffixes.has_known_suffix(name)) << name;
  }
}

}  // namespace
}  // namespace han::tests
