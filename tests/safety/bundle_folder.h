// BundleFolder: a bundle's folder of a test, written file by file; at first without rules or
// lists.
//
// Threads: one. Owns: the folder.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "safety/bundle.h"
#include "tests/support/temp_dir.h"

namespace han::tests {

inline constexpr std::chrono::sys_days kBundleDay{std::chrono::days(20'000)};

class BundleFolder {
 public:
  BundleFolder() {
    write_rules(" []\n");
    write_lists(" []\n");
  }
  std::string path() const { return dir_.path().string(); }
  std::string file(const std::string& name) const { return dir_.file(name); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(dir_.file(name), std::ios::trunc) << text;
    // Two writes within one tick of the file system's clock have two times.
    const std::filesystem::file_time_type time(std::chrono::hours(++writes_));
    std::filesystem::last_write_time(dir_.file(name), time);
  }
  // `rows`: lines of a YAML list.
  void write_rules(const std::string& rows) { write("rules.yaml", "schema: 1\nrules:\n" + rows); }
  void write_lists(const std::string& rows) { write("lists.yaml", "schema: 1\nlists:\n" + rows); }
  std::shared_ptr<const safety::Bundle> load() const {
    return safety::Bundle::load(path(), kBundleDay);
  }

 private:
  TempDir dir_;
  int writes_ = 0;
};

}  // namespace han::tests
