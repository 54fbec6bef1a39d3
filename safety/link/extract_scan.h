// LinkScan: one walk over a text, from mark to mark, that offers all readings of each link.
//
// Threads: one thread at a time. Owns: nothing; the text and the sink must outlive it.
// Blocks:  never. Limits: those of the sink, which it asks after each mark.
#pragma once

#include <cstddef>
#include <string_view>

#include "safety/link/extract_end.h"
#include "safety/link/extract_host.h"
#include "safety/link/extract_scheme.h"
#include "safety/link/extract_sink.h"

namespace han::safety {

class LinkScan {
 public:
  LinkScan(std::string_view text, LinkSink& sink) : text_(text), sink_(sink) {}

  void run();

 private:
  enum class Before { kFree, kMail, kPath };  // what a bare host follows

  // Each takes a mark and gives the place from which the next one is looked for.
  std::size_t take_mark(std::size_t mark);
  std::size_t take_colon(std::size_t colon);
  std::size_t take_slashes(std::size_t slash);
  std::size_t take_dot(std::size_t dot);

  struct Authority {
    bool has_user;         // something before an '@'
    std::size_t host_end;  // before what no host and no port has; else the end
  };
  // Of what begins at `from` and ends before `end` or its path.
  Authority authority(std::size_t from, std::size_t end) const;

  // The host that a program finds behind a sign which it takes for no part of one.
  void offer_behind_sign(std::size_t from, std::size_t end);
  // Where the text goes on behind the link; 0: there is none.
  std::size_t offer_readings(LinkCandidate plain, std::size_t from, const LinkEnds& ends);
  // Whether the longest reading is worth one of its own.
  bool is_other_reading(std::size_t start, std::size_t from, const LinkEnds& ends) const;
  bool has_path_before(std::size_t from, std::size_t end) const;

  Before before_host(std::size_t begin) const;
  bool is_mail_name(std::size_t end) const;
  // Where the path of a host that ends at `end` begins, behind dot and port; `end` when none of
  // them is there.
  std::size_t authority_end(std::size_t end, std::size_t run_end) const;
  // Whether it became a link, which ends before `next`.
  bool take_host(const HostPart& part, const HostRun& run, Reading reading, std::size_t& next);

  std::string_view text_;
  LinkSink& sink_;
  std::size_t link_end_ = 0;  // of the last link: no scheme begins before it
  std::size_t run_end_ = 0;   // of the last run of host characters: no other one begins before it
};

}  // namespace han::safety
