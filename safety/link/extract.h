// Extraction: where a text holds links, and what each is as a URL.
//
// A reader's program decides what can be clicked, and programs differ. So wherever two of them
// would take a link to end in different places, both readings are links here, and what a person can
// be told to type (`hxxp://evil[.]example`) is one too. A link is:
//  - a scheme of two or more letters with "://" and what follows; for http, https, ws, wss and ftp
//    any number of slashes and backslashes before a host with a known suffix, as browsers take it;
//    `javascript:`, `data:`, `vbscript:`, `file:` ... when what follows can be obeyed;
//  - a bare host with a known suffix (public_suffix.h), or that starts with "www.", or an IPv4
//    address in four numbers, with port, path, query;
//  - either of them disguised: see extract_disguise.h;
//  - behind a path (`and/evil.com`) a bare host as another reading, but no number and no file name;
//  - a URL in the path, the query or the fragment of another, also percent-encoded.
// Mail addresses, `mailto:` and `tel:` are no links: nothing is fetched by them. An address with a
// path (`a@evil.example/x`) is one, since an address bar takes it for a host.
//
// Emitted are candidates that Url::parse takes; and those with an explicit http or https whose host
// has a dot or a percent sign although Url::parse refuses them, which are judged as invalid.
// Source: WHATWG URL section 4.4; GFM section 6.9; Unicode 15.0 (punctuation).
//
// Threads: pure functions. Blocks: never. Fails: never.
// Limits:  ExtractLimits, and linear time: when `steps` are more than kExtractStepsBase and
//          kExtractStepsPerByte for each byte, which no honest text needs, the text is over its
//          budget too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace han::safety {

// Raised by hand whenever the same text gives other links; part of rules_version.
inline constexpr int kExtractVersion = 6;

inline constexpr std::size_t kExtractStepsPerByte = 24;
inline constexpr std::size_t kExtractStepsBase = std::size_t{1} << 20;

struct ExtractLimits {
  std::size_t links_max = 200;        // all readings counted
  std::size_t candidates_max = 2000;  // what was tried as a URL
  std::size_t nested_depth_max = 3;   // URLs in URLs, each percent-encoding counted
};

enum class Reading : std::uint8_t {
  kPlain,       // what most programs make of it
  kAlternate,   // the longer or the shorter reading
  kObfuscated,  // after a disguise was taken off
  kNested,      // in the path, query or fragment of another link
  kNowhere,     // a longer reading whose host is no name of the DNS: shown, and not judged
};

struct ExtractedLink {
  // For Url::parse: without disguise, with a scheme ("http://" is put before bare hosts).
  std::string url;
  std::size_t start = 0;  // bytes of the text
  std::size_t end = 0;
  bool obfuscated = false;
  Reading reading = Reading::kPlain;
  // An IPv4 address in four numbers and nothing else, but for the length of a network ("/8").
  bool is_bare_address = false;
  bool operator==(const ExtractedLink&) const = default;
};

struct Extraction {
  std::vector<ExtractedLink> links;  // by their start
  bool is_over_budget = false;       // a limit was met: the text is indeterminate(limit)
  std::size_t steps = 0;             // bytes looked at, as often as they were
};

// `repaired_text` is valid UTF-8 (safety/text/utf8.h).
Extraction extract_links(std::string_view repaired_text, const ExtractLimits& limits = {});

// The URLs in a link that stands by itself (a task, a check): those with Reading::kNested that
// extract_links gives where a text holds it whole, under the same limits. `raw_url`: any bytes, be
// they a URL or not; offsets are those of its bytes after UTF-8 repair, without tabs, line ends and
// what else no URL keeps before it (WHATWG URL section 4.4). Of one longer than kUrlBytesMax, which
// is not judged in part: none.
Extraction extract_nested_links(std::string_view raw_url, const ExtractLimits& limits = {});

// Whether extract_links(repaired_text) gives a link or is over its budget, at the price of the
// first of them; of texts without a mark of a link, next to nothing.
bool has_links(std::string_view repaired_text);

}  // namespace han::safety
