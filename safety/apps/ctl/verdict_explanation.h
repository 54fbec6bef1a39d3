// What each rule, list and finding of a verdict is, and what it decides alone.
//
// Threads: pure functions. Blocks: print_explained while nobody reads the output.
#pragma once

#include <iosfwd>

#include "safety/apps/ctl/output.h"
#include "safety/subject_judge.h"
#include "safety/verdict.h"

namespace han::safety {

// One object for each id, those that decide first.
Json explained_json(const Verdict& verdict, const SubjectJudge& judge);
void print_explained(const Verdict& verdict, const SubjectJudge& judge, std::ostream& out);

}  // namespace han::safety
