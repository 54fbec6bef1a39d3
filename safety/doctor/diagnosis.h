// Diagnoses: what a doctor has looked at, one line a check.
//
// A check that could not be made is said to be so, with the reason: it never passes for a good one.
// No line holds a key's name, a text, an address or a secret (SPEC I7).
//
// Threads: one thread at a time. Blocks: never.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace han::safety {

struct Diagnosis {
  enum class State { kOk, kFinding, kNotChecked };

  State state = State::kOk;
  std::string check;  // for example "redis.keys.ttl"
  std::string seen;   // what there is, or why it could not be looked at
  std::string fix;    // of a finding
};

// "ok", "finding", "not_checked".
std::string_view to_string(Diagnosis::State state);

class Diagnoses {
 public:
  void ok(std::string_view check, std::string seen);
  void finding(std::string_view check, std::string seen, std::string fix);
  void not_checked(std::string_view check, std::string reason);
  // A finding unless `is_well`.
  void judge(bool is_well, std::string_view check, std::string seen, std::string fix);

  const std::vector<Diagnosis>& all() const { return all_; }
  std::size_t count(Diagnosis::State state) const;

 private:
  std::vector<Diagnosis> all_;
};

}  // namespace han::safety
