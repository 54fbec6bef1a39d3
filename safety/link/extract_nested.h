// NestedUrls: the URLs that stand in the path, the query or the fragment of another one.
//
// http and https with "://", each of whose characters may be percent-encoded any number of times
// (`http%3A%2F%2F`, `http%253A%252F%252F`), and a parameter's value that begins with "//", which a
// redirector follows like a URL. When the host has a known suffix: also with one slash behind a
// slash, '?' or '#', and with any number of them at the start of a parameter's value. One in a
// query or fragment ends with its parameter; one in the path goes on to the end, or, when it was
// encoded, to the end of its segment.
// Source: WHATWG URL section 5 (parameters end at '&').
//
// Threads: one thread at a time. Owns: nothing; the URL must outlive it. Blocks: never.
// Limits:  one pass over the URL, and one for each round of decoding.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace han::safety {

struct NestedUrl {
  std::size_t begin;  // in the URL around it, as it stands there
  std::size_t end;
  std::size_t rounds;  // how often it was percent-encoded; 0: not
  bool is_relative;    // it begins with "//"
  bool needs_suffix;   // relative, or without two slashes: a link when its host has a known suffix
  std::string url;     // decoded, valid UTF-8, with a scheme
};

class NestedUrls {
 public:
  // Those that begin at `from` or later. What was encoded more than `rounds_max` times is told, but
  // not decoded.
  NestedUrls(std::string_view url, std::size_t from, std::size_t rounds_max);

  std::optional<NestedUrl> next();

 private:
  struct Mark {
    std::size_t begin;
    std::size_t rounds;
    bool is_relative;
    bool is_sloppy;    // a scheme with one slash or none
    std::size_t host;  // behind scheme and slashes
  };

  std::optional<Mark> next_mark();
  std::optional<Mark> mark_at(std::size_t at) const;
  std::size_t end_of(const Mark& mark) const;

  std::string_view url_;
  std::size_t rounds_max_;
  std::size_t at_;
  std::size_t parameters_at_;  // the first '?' or '#'
};

}  // namespace han::safety
