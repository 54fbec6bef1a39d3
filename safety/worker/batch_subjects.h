// BatchSubjects: what is judged in one batch: texts, links and hosts, each once.
//
// Links are those of tasks, those found in texts, and the URLs in a task's link; one that is
// several of them is one. A task's link is a subject apart, since two that are fetched alike may
// hold different URLs, behind the '#'. Every host has two questions, for A and AAAA, side by side.
//
// Threads: one thread at a time; once the batch is judged it is read only. Blocks: never.
// Owns:    all but the bytes of the texts and of the tasks' links.
// Limits:  those of the claim, and links_max of the config for each text and each task's link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "safety/base/digest.h"
#include "safety/worker/dns_lookup.h"
#include "safety/worker/link_lookup.h"
#include "safety/worker/text_lookup.h"

namespace han::safety {

class BatchSubjects {
 public:
  struct LinkUse {
    std::size_t link;  // among links
    bool is_obfuscated;
    bool is_alternate;
    bool is_bare_address;
  };
  struct LinkUses {
    std::vector<LinkUse> uses;
    bool is_over_budget = false;  // there are more than may be
  };
  struct LinkTask {
    std::string_view url;  // as it was given
    std::size_t link;      // among links
    LinkUses nested;       // the URLs in it
  };

  // Each gives the place of what is equal.
  std::size_t add_text(std::string_view repaired_text, const Digest& hash);
  std::size_t add_link(LinkItem item);
  // The link of a task, `item`, and its bytes as they were given.
  std::size_t add_link_task(std::string_view url, LinkItem item);
  // The place of the first of two questions.
  std::size_t add_host(HostItem a, HostItem aaaa);
  // Whether a link's verdict waits for an answer that is not there.
  bool is_waiting(const LinkItem& link) const;

  std::vector<TextSubject> texts;
  std::vector<LinkUses> links_of;  // of each text
  std::vector<LinkTask> link_tasks;
  std::vector<LinkItem> links;
  std::vector<HostItem> hosts;

 private:
  struct DigestHash {
    std::size_t operator()(const Digest& digest) const { return xxh3(as_text(digest)); }
  };
  using Places = std::unordered_map<Digest, std::size_t, DigestHash>;

  Places texts_seen_;
  Places links_seen_;
  std::unordered_map<std::string_view, std::size_t> link_tasks_seen_;
  Places hosts_seen_;
};

}  // namespace han::safety
