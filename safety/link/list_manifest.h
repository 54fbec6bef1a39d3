// lists.yaml: which lists a bundle has and what each of them asks for.
//
//     schema: 1
//     lists:
//     - {id: phish.hosts, file: phish.txt, kind: host, action: block, severity: 80, mode: enforce,
//        categories: [phishing], owner: trust, reason: reported hosts, expires: 2027-12-31}
//     - {id: ads.suffixes, file: ads.hosts, format: hosts, kind: suffix, action: monitor,
//        severity: 20, mode: shadow}
//     - {id: ours, file: ours.txt, kind: suffix, action: allow, mode: enforce}
//
//     - {id: feed, file: feed.txt, kind: host, action: block, severity: 80, mode: enforce,
//        entries_min: 50000}
//
// entries_min: a file with fewer entries is refused, as a download that broke off; 1 if left out.
// A list that says it is not compared with the one that it replaces (safety/bundle_loss.h).
// kind: host, suffix, path, cidr, hash; format: lines (if left out) or hosts; action: block,
// monitor, allow; mode: enforce, shadow, off. A list to allow has no severity. Ids are those of
// rules too, so that no rule may have the id of a list.
//
// Threads: pure functions. Blocks: load_list_manifest reads one file.
// Fails:   ConfigError "file:line: list ID: field: what is wrong and how to fix it".
// Limits:  1,000 lists, 4 MiB; file names of 255 bytes inside the folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "safety/link/list_row.h"
#include "safety/yaml_file.h"

namespace han::safety {

inline constexpr std::size_t kListsMax = 1000;

// `name` stands for the file in errors. Rows come in the order of the file.
std::vector<ListRow> parse_list_manifest(const std::string& name, std::string_view text);
std::vector<ListRow> load_list_manifest(const std::string& path);

}  // namespace han::safety
