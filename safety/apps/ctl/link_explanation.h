// LinkExplanation: how a link came to its verdict: its two forms, what hit, and what its host
// resolves to.
//
// The URL, its host and the names of its chain are shown only when that was asked for.
//
// Threads: one thread. Owns: the judged link; borrows the judge.
// Blocks:  the constructor as OfflineJudge.
#pragma once

#include <iosfwd>
#include <string>

#include "safety/apps/ctl/offline_judge.h"
#include "safety/apps/ctl/output.h"
#include "safety/subject_judge.h"

namespace han::safety {

class LinkExplanation {
 public:
  LinkExplanation(const OfflineJudge& judge, std::string raw_url, bool show_url);

  void print_json(std::ostream& out) const;
  void print_table(std::ostream& out) const;
  Decision decision() const { return judged_.verdict.decision; }

 private:
  Json stable_json() const;
  Json lists_json() const;
  Json dns_json() const;
  Json question_json(const char* type, const dns::Resolution& resolution) const;
  Json address_json(const IpAddress& address) const;
  Json url_json() const;
  // The URLs in the link.
  Json nested_json() const;

  const OfflineJudge& judge_;
  const std::string raw_url_;
  const bool show_url_;
  SubjectJudge::JudgedLink judged_;
};

}  // namespace han::safety
