// List findings: what stands in the lists of a bundle and does nothing: entries to allow that an
// entry to block or monitor overrules, and entries that their list has already.
//
// At equal specificity block and monitor beat allow (safety/link/link_lists.h), so an operator who
// allows what a feed blocks by the same entry would wait for an effect in vain. Such a bundle is
// loaded all the same: a feed must not be able to refuse what its operator wrote.
//
// Threads: one thread. Blocks: reads the lists' files, those to allow twice.
// Fails:   as read_list_file.
// Limits:  the first kListFindingsMax of each kind; memory of one more table of the entries.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "safety/bundle.h"

namespace han::safety {

inline constexpr std::size_t kListFindingsMax = 20;

struct ListFinding {
  std::string file;
  int line = 0;
  std::string field;  // "list ID"
  std::string what_and_fix;
};

struct ListFindings {
  std::vector<ListFinding> overruled;
  std::vector<ListFinding> repeated;
  std::size_t overruled_count = 0;  // all of them
  std::size_t repeated_count = 0;
};

// Of live lists and url-host rules.
ListFindings find_in_lists(const Bundle& bundle);

}  // namespace han::safety
