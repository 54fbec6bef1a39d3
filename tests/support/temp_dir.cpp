#include "tests/support/temp_dir.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

namespace han::tests {

TempDir::TempDir(const std::filesystem::path& parent) {
  // Short, because the path of a unix socket has at most 107 bytes.
  std::string pattern = (parent / "han-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr || ::chmod(pattern.c_str(), 0755) != 0) {
    throw std::system_error(errno, std::generic_category(), "mkdtemp");
  }
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace han::tests
