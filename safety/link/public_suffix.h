// The list of public suffixes: under which names anyone may register one.
//
// The system's list (the DAFSA file that libpsl names) is used when it can be read and parsed, else
// the list that is built into libpsl. Names are A-labels in lower case without a trailing dot; a
// name with an empty label is no name and has no answer. Both parts of the list count, ICANN's and
// the private one ("github.io"). Source: publicsuffix.org/list, libpsl.
//
// Threads: immutable, safe to share. Owns: the parsed list. Blocks: the first call of system()
// reads a file; nothing else. Fails: never after that; without the file the built-in list serves.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace han::safety {

class PublicSuffixes {
 public:
  // The one of this process, read at the first call.
  static const PublicSuffixes& system();

  // `dafsa_file`: tests give another file. Not readable or not a list: the built-in one.
  explicit PublicSuffixes(const std::string& dafsa_file);
  PublicSuffixes(const PublicSuffixes&) = delete;
  PublicSuffixes& operator=(const PublicSuffixes&) = delete;
  ~PublicSuffixes();

  // True for "com", "co.uk", and for any top-level domain that is not listed (the rule "*").
  bool is_public_suffix(std::string_view ahost) const;

  // The suffix and one label: "example.co.uk" of "a.example.co.uk"; nothing for a suffix.
  std::optional<std::string> registrable_domain(std::string_view ahost) const;

  // True when the top-level domain is one of ICANN's part of the list: what makes a bare host in a
  // text a link.
  bool has_known_suffix(std::string_view ahost) const;

  // Which list this is: changes with its content. Part of rules_version.
  const std::string& version() const { return version_; }
  bool is_built_in() const { return owned_ == nullptr; }

 private:
  struct Free {
    void operator()(void* list) const;
  };

  std::unique_ptr<void, Free> owned_;  // null when the built-in list serves
  const void* list_;
  std::string version_;
};

}  // namespace han::safety
