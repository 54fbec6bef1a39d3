#include "safety/worker/bundle_report.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/safety/bundle_folder.h"

namespace han::tests {
namespace {

safety::BundleHolder::State state_of(const std::string& fault) {
  BundleFolder folder;
  folder.write_lists(
      "- {id: l, file: l.txt, kind: host, action: block, severity: 5, mode: enforce}\n");
  folder.write("l.txt", "a.test\nb.test\n");
  return {folder.load(), fault};
}

TEST(BundleReport, SaysHowMuchCountsAndWhatIsRefused) {
  EXPECT_EQ(bundle_report(state_of("")), "bundle: 0 rules, 1 lists, 2 entries\n");
  EXPECT_EQ(bundle_report(state_of("f:3: rule r: no")),
            "bundle: 0 rules, 1 lists, 2 entries\n"
            "bundle refused, the old one stays: f:3: rule r: no\n");
}

TEST(BundleReport, FiguresOfBoth) {
  for (const std::string fault : {"", "f: no"}) {
    std::map<std::string, double> figures;
    set_bundle_figures(state_of(fault),
                       [&](std::string_view name, std::string_view label, double value) {
                         figures[std::string(name).append("/").append(label)] = value;
                       });
    EXPECT_EQ(figures.at("bundle_refused/"), fault.empty() ? 0 : 1);
    EXPECT_EQ(figures.at("bundle_parts/rules"), 0);
    EXPECT_EQ(figures.at("bundle_parts/lists"), 1);
    EXPECT_EQ(figures.at("bundle_parts/entries"), 2);
  }
}

}  // namespace
}  // namespace han::tests
