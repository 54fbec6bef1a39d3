#include "safety/doctor/diagnosis.h"

#include <algorithm>
#include <utility>

namespace han::safety {

std::string_view to_string(Diagnosis::State state) {
  switch (state) {
    case Diagnosis::State::kOk:
      return "ok";
    case Diagnosis::State::kFinding:
      return "finding";
    case Diagnosis::State::kNotChecked:
      return "not_checked";
  }
  return "";
}

void Diagnoses::ok(std::string_view check, std::string seen) {
  all_.push_back({Diagnosis::State::kOk, std::string(check), std::move(seen), ""});
}

void Diagnoses::finding(std::string_view check, std::string seen, std::string fix) {
  all_.push_back({Diagnosis::State::kFinding, std::string(check), std::move(seen), std::move(fix)});
}

void Diagnoses::not_checked(std::string_view check, std::string reason) {
  all_.push_back({Diagnosis::State::kNotChecked, std::string(check), std::move(reason), ""});
}

void Diagnoses::judge(bool is_well, std::string_view check, std::string seen, std::string fix) {
  if (is_well) {
    ok(check, std::move(seen));
  } else {
    finding(check, std::move(seen), std::move(fix));
  }
}

std::size_t Diagnoses::count(Diagnosis::State state) const {
  return static_cast<std::size_t>(std::ranges::count(all_, state, &Diagnosis::state));
}

}  // namespace han::safety
