// Bare hosts: which part of a run of characters a reader would take for a host.
//
// A run is what stands between characters that no host has. In text without spaces it holds more
// than the host, so besides the whole run each Latin stretch of it is a part of its own
// (`visit-in-Chinese` + `example.com`).
// Source: UTS 46 (dots, mapping); Public Suffix List (known suffixes).
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace han::safety {

inline constexpr std::size_t kHostRunBytesMax = 1024;  // a longer part is no host

struct HostRun {
  std::size_t begin;
  std::size_t end;
};

// The run around the dot at `dot`, not before `floor`. Requires: floor <= dot < text.size().
HostRun host_run(std::string_view text, std::size_t dot, std::size_t floor);

struct HostPart {
  std::size_t begin;  // without dots, '-' and '_' at its ends
  std::size_t end;
  bool is_stretch;  // a Latin stretch of a longer part, which comes before it
};

// The parts that have a dot inside.
std::vector<HostPart> host_parts(std::string_view text, HostRun run);

// Tells whether a part is to be taken for a host although no scheme is before it.
// Threads: one thread at a time.
class HostTest {
 public:
  // So many labels that are not ASCII, each of which costs a conversion, are looked at.
  explicit HostTest(std::size_t conversions_max) : conversions_left_(conversions_max) {}

  // Its last label is a known suffix, or it starts with "www.", or it is four numbers.
  bool is_host(std::string_view part);
  // Its last label is a number, as of an address.
  static bool is_numbered(std::string_view part);
  // `label` has no dots.
  bool is_known_suffix(std::string_view label);
  // Some label was not looked at.
  bool is_over_budget() const { return is_over_budget_; }

 private:
  std::size_t conversions_left_;
  bool is_over_budget_ = false;
};

// False when no part of the run is to be taken for a host; cheap, since in Chinese text each full
// stop is a dot.
bool may_hold_host(std::string_view text, HostRun run, HostTest& test);

}  // namespace han::safety
