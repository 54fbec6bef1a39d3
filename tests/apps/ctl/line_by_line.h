// A command that answers each line before it waits for the next one.
//
// Threads: one thread. Blocks: until the command has ended, at most kAwaitLimit a line.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/await.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace han::tests {

// `argv` reads the file whose name is put behind it. Requires: `line` is a line that it takes.
inline void expect_answers_line_by_line(std::vector<std::string> argv, const std::string& line) {
  const TempDir folder;
  const std::string fifo = folder.file("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  argv.push_back(fifo);
  Process process({.argv = std::move(argv), .output_path = folder.file("out")});
  std::ofstream writer(fifo);
  for (std::ptrdiff_t count = 1; count <= 3; ++count) {
    writer << line << '\n' << std::flush;
    EXPECT_TRUE(await([&] {
      const std::string out = process.output();
      return std::count(out.begin(), out.end(), '\n') == count;
    }));
  }
  writer.close();
  const auto status = process.wait(safety::Deadline::after(kAwaitLimit));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 0);
}

}  // namespace han::tests
