// LinkSink: takes what may be a link, keeps what is one, and sees to the limits.
//
// Threads: one thread at a time. Owns: nothing; the extraction and the disguise must outlive it.
// Blocks:  never.
// Limits:  ExtractLimits; and steps, see extract.h. At a limit it sets is_over_budget and is done.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "safety/link/extract.h"
#include "safety/link/extract_disguise.h"
#include "safety/link/extract_host.h"
#include "safety/link/url.h"

namespace han::safety {

// A part of the text that may be a link.
struct LinkCandidate {
  std::size_t start;
  std::size_t end;
  std::string_view prefix;  // put before the part to make a URL of it
  Reading reading = Reading::kPlain;
  bool needs_suffix = false;     // only a host with a known suffix, or an address, makes it a link
  bool may_be_local = false;     // "localhost" does it too
  bool may_be_refused = false;   // a link also when Url::parse refuses it; see extract.h
  bool is_scanned_next = false;  // the text of its end is looked at anyway
  // Where the search for URLs in it begins; npos: none is made.
  std::size_t nested_from = std::string_view::npos;
};

class LinkSink {
 public:
  // With `first_only` it is done as soon as there is a link.
  LinkSink(std::string_view text, const ExtractLimits& limits, bool first_only,
           Extraction& extraction);

  // Candidates are of disguise.text() from now on, or of the text that is disguised; null: of a
  // text without disguise.
  void read_undisguised(const Disguise* disguise);
  void read_original(const Disguise* disguise);

  bool is_done() const { return is_done_; }
  void add_steps(std::size_t steps);
  HostTest& hosts() { return hosts_; }
  // To be called after hosts() was used.
  void check_hosts();

  // Whether it became a link.
  bool offer(const LinkCandidate& candidate);
  // The URLs in the text, which is one URL; it counts as a candidate and as a link itself.
  void offer_inside();

 private:
  // Where the URL that holds others stands in the text.
  struct Around {
    std::size_t origin;  // of its first byte, when is_verbatim
    std::size_t start;   // of the candidate
    std::size_t end;
    bool is_verbatim;      // its bytes are those of the text
    bool is_scanned_next;  // the text behind is looked at anyway: only encoded URLs are new
  };

  void go_over_budget();
  bool offer_url(std::string url, const LinkCandidate& candidate);
  bool has_known_host(const Url& url);
  void keep(std::string url, const LinkCandidate& candidate);
  void offer_nested(std::string_view url, std::size_t from, std::size_t depth,
                    const Around& around);

  std::string_view text_;
  const ExtractLimits limits_;
  const bool first_only_;
  Extraction& extraction_;
  HostTest hosts_;
  const Disguise* disguise_ = nullptr;
  bool is_undisguised_ = false;
  std::size_t candidates_ = 0;
  std::size_t steps_max_;
  bool has_outer_ = false;  // a link that is not told counts too
  bool is_done_ = false;
};

}  // namespace han::safety
