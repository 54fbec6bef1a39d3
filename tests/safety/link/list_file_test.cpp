#include "safety/link/list_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace han::tests {
namespace {

using safety::ListFileError;
using safety::ListFileSummary;
using safety::ListFormat;
using safety::ListKind;
using safety::ListReader;
using safety::ListRow;

ListRow row_of(ListKind kind = ListKind::kHost, ListFormat format = ListFormat::kLines) {
  ListRow row;
  row.id = "l";
  row.kind = kind;
  row.format = format;
  return row;
}

struct Read {
  std::string names;  // joined by commas
  std::vector<int> lines;
  ListFileSummary summary;
};

Read read(std::string_view text, const ListRow& row, std::size_t piece = 1000) {
  Read out;
  ListReader reader("f.txt", row, safety::PublicSuffixes::system(),
                    [&](const safety::ListEntry& entry, int line) {
                      out.names += (out.names.empty() ? "" : ",") + entry.name;
                      out.lines.push_back(line);
                    });
  for (std::size_t at = 0; at < text.size(); at += piece) reader.feed(text.substr(at, piece));
  out.summary = reader.finish();
  return out;
}

std::string error_of(std::string_view text, const ListRow& row) {
  try {
    read(text, row);
    return "";
  } catch (const ListFileError& error) {
    return error.what();
  }
}

TEST(ListFile, ReadsLinesWithCommentsInPiecesOfAnySize) {
  const std::string text =
      "\xEF\xBB\xBF# a list\r\n\r\n  a.test \r\nb.test # why\n\tc.test\n#d.test\n\n"
      "e.test";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    const Read got = read(text, row_of(), piece);
    ASSERT_EQ(got.names, "a.test,b.test,c.test,e.test") << piece;
    ASSERT_EQ(got.lines, (std::vector<int>{3, 4, 5, 8}));
    ASSERT_EQ(got.summary.lines, 8U);
    ASSERT_EQ(got.summary.entries, 4U);
    ASSERT_EQ(got.summary.digest, safety::sha256(text));
  }
  EXPECT_EQ(read("", row_of()).names, "");
  EXPECT_EQ(read("a.test\n", row_of()).summary.lines, 1U);
  EXPECT_NE(error_of("a.test/x#y\n", row_of(ListKind::kPath)), "") << "a fragment is no comment";
}

TEST(ListFile, ReadsHostsFilesAndSkipsTheMachinesOwnNames) {
  const std::string text =
      "# hosts\n127.0.0.1 localhost localhost.localdomain local\n255.255.255.255\tbroadcasthost\n"
      "::1 ip6-localhost ip6-loopback\nfe80::1%lo0 localhost\n0.0.0.0 0.0.0.0\n"
      "0.0.0.0 Ads.test tracker.test. # two\n::  c.test\n";
  EXPECT_EQ(read(text, row_of(ListKind::kSuffix, ListFormat::kHosts)).names,
            "ads.test,tracker.test,c.test");
  const ListRow row = row_of(ListKind::kHost, ListFormat::kHosts);
  EXPECT_NE(error_of("a.test\n", row).find("f.txt:1: list l: must be an address and names"),
            std::string::npos);
  EXPECT_NE(error_of("0.0.0.0\n", row).find("must be an address and names"), std::string::npos);
  EXPECT_NE(error_of("0.0.0.0 a.test b^test\n", row).find("no host that can exist"),
            std::string::npos);
}

TEST(ListFile, OneBadLineRefusesTheFileAndTheFirstOnesAreTold) {
  std::string text = "good.test\nco.uk\n*.com\nfine.test\n";
  EXPECT_EQ(error_of(text, row_of(ListKind::kSuffix)),
            "f.txt:2: list l: is a public suffix, below which anyone may have a host; name the "
            "hosts below it; 2 lines are wrong, also: 3");
  for (int i = 0; i < 30; ++i) text += "a/b\n";
  try {
    read(text, row_of(ListKind::kSuffix));
    FAIL();
  } catch (const ListFileError& error) {
    EXPECT_EQ(error.fault_count(), 32U);
    ASSERT_EQ(error.faults().size(), safety::kListFaultsMax);
    EXPECT_EQ(error.faults()[2].line, 5);
    EXPECT_EQ(std::string(error.what()).find("a/b"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find(", 22 and more"), std::string::npos) << error.what();
  }
}

TEST(ListFile, ALineHasALimitAndCostsNoMoreMemory) {
  const std::string at_limit = "a.test #" + std::string(safety::kListLineBytesMax - 8, 'x');
  EXPECT_EQ(read(at_limit + "\nb.test\n", row_of(), 100).names, "a.test,b.test");
  for (const std::size_t piece : {1U, 100U, 100'000U}) {
    try {
      read(at_limit + "x\n" + std::string(50'000, 'y'), row_of(), piece);
      FAIL();
    } catch (const ListFileError& error) {
      ASSERT_EQ(error.fault_count(), 2U);
      EXPECT_EQ(error.faults()[0].line, 1);
      EXPECT_EQ(error.faults()[1].line, 2);
    }
  }
}

TEST(ListFile, AFileIsNamedWithItsList) {
  const TempDir dir;
  const auto load = [&](const std::string& name) {
    return read_list_file(dir.file(name), row_of(), safety::PublicSuffixes::system(),
                          [](const safety::ListEntry&, int) {});
  };
  const std::string text(300'000, 'x');
  std::ofstream(dir.file("good")) << "a.test\n# " << text.substr(0, 4000) << "\nb.test";
  EXPECT_EQ(load("good").entries, 2U);
  try {
    load("absent");
    FAIL();
  } catch (const safety::ConfigError& error) {
    EXPECT_EQ(error.what(), dir.file("absent") +
                                ": list l: no such file; check the name in "
                                "lists.yaml");
  }
  EXPECT_THROW(load("."), safety::ConfigError);
}

}  // namespace
}  // namespace han::tests
