// TempDir: a folder of one test, removed with everything in it when the test ends.
//
// Its mode is 0755: servers that refuse to run as root must be able to walk through it.
//
// Threads: one thread at a time; path() may be read by all.
// Owns:    the folder and all below it.
// Fails:   std::system_error when the folder cannot be made.
#pragma once

#include <filesystem>
#include <string>

namespace han::tests {

class TempDir {
 public:
  // Inside `parent`, which must exist.
  explicit TempDir(const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // The path of `name` inside the folder.
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace han::tests
