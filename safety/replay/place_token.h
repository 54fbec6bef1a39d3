// PlaceToken: how far a walk over the verdict rows came, as a word that an operator can pass on.
//
// "text:9f3ac210": all kinds before text are done, and all hashes of text that are smaller than
// these first digits. Going on there does a few rows twice, which changes nothing. The digits are
// too few to tell what was hashed (SPEC I7). A state file holds one token and a line end.
//
// Threads: values and pure functions. Blocks: the file functions, on a disk.
// Fails:   parse by nullopt; read_place throws PlaceError, write_place too.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace han::safety {

class PlaceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct PlaceToken {
  static constexpr std::size_t kDigits = 8;

  // Cuts the hash to what a token holds.
  static PlaceToken at(std::string_view kind, std::string_view subject_hash);
  static std::optional<PlaceToken> parse(std::string_view text);
  std::string str() const;
  bool operator==(const PlaceToken&) const = default;

  std::string kind;
  // Raw bytes, kDigits / 2 of them.
  std::string hash_begin;
};

// Nullopt: there is no such file.
std::optional<PlaceToken> read_place(const std::string& path);
// In one step: a process that is killed leaves the old place or the new one.
void write_place(const std::string& path, const PlaceToken& place);
// Throws PlaceError where write_place would.
void check_writable_place(const std::string& path);
void remove_place(const std::string& path);

}  // namespace han::safety
