// The basic URL parser: from any text to a Url. Use Url::parse.
//
// Source: WHATWG URL, section 4.4 "URL parsing". The standard's states run over one character at a
// time; here each state takes its whole part at once, finds where it ends, and goes on with the
// next, which gives the same result in one pass. The URL is written in its serialised form (section
// 4.5) from the start.
//
// Threads: one parser per parse. Owns: the URL that is being written. Blocks: never.
// Fails: run() gives a UrlError. Limits: linear in the input.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "safety/link/percent.h"
#include "safety/link/url.h"

namespace han::safety {

class UrlParser {
 public:
  explicit UrlParser(const Url* base) : base_(base) {}

  std::variant<Url, UrlError> run(std::string_view input);

 private:
  using Error = std::optional<UrlError>;

  Error parse(std::string_view text);
  bool read_scheme(std::string_view& text);
  Error with_scheme(std::string_view rest);
  Error without_scheme(std::string_view text);

  Error relative(std::string_view rest);
  Error authority(std::string_view rest);
  void credentials(std::string_view text);
  Error host_and_port(std::string_view text);
  Error host(std::string_view text);
  Error port(std::string_view text);
  Error file(std::string_view rest);
  Error file_slash(std::string_view rest);
  Error file_host(std::string_view rest);

  void path_start(std::string_view rest);
  void path(std::string_view rest);
  void segment(std::string_view text, bool is_last);
  void shorten_path();
  void opaque_path(std::string_view rest);
  void query_and_fragment(std::string_view rest);
  void fragment(std::string_view rest);

  void copy_authority();
  void copy_path();
  void copy_query();
  void begin_path();
  void no_authority();
  void empty_host();
  void end_path();
  void end_query();

  std::uint32_t here() const { return static_cast<std::uint32_t>(out_.size()); }
  bool is_slash(char byte) const { return byte == '/' || (byte == '\\' && at_.is_special); }
  std::size_t part_end(std::string_view text) const;
  std::string_view written_scheme() const {
    return std::string_view(out_).substr(0, at_.scheme_end);
  }
  std::string_view written_path() const { return std::string_view(out_).substr(at_.path_begin); }

  const Url* base_;
  std::string out_;
  UrlLayout at_;
  bool is_file_ = false;
};

}  // namespace han::safety
