#include "cache/trouble_board.h"

namespace han::cache {
namespace {

bool speaks_of_server(ErrorClass error) {
  return error != ErrorClass::kWrongtype && error != ErrorClass::kOversized &&
         error != ErrorClass::kNoscript;
}

}  // namespace

void TroubleBoard::add(Seen& seen) {
  ++seen.count;
  seen.last = clock_.now();
}

void TroubleBoard::note(Trouble trouble) {
  if (trouble == Trouble::kNone || trouble == Trouble::kInterrupted) return;
  safety::MutexLock lock(mutex_);
  add(troubles_.at(static_cast<std::size_t>(trouble)));
}

void TroubleBoard::note(ErrorClass error) {
  if (error == ErrorClass::kNone) return;
  safety::MutexLock lock(mutex_);
  add(errors_.at(static_cast<std::size_t>(error)));
}

std::vector<NamedTrouble> TroubleBoard::list() const {
  safety::MutexLock lock(mutex_);
  const auto since = clock_.now() - kWindow;
  std::vector<NamedTrouble> named;
  for (std::size_t i = 0; i < troubles_.size(); ++i) {
    const Seen& seen = troubles_.at(i);
    if (seen.count == 0) continue;
    named.push_back({trouble_name(static_cast<Trouble>(i)), seen.count, seen.last >= since});
  }
  for (std::size_t i = 0; i < errors_.size(); ++i) {
    const Seen& seen = errors_.at(i);
    if (seen.count == 0) continue;
    const auto error = static_cast<ErrorClass>(i);
    named.push_back({error_name(error), seen.count, speaks_of_server(error) && seen.last >= since});
  }
  return named;
}

}  // namespace han::cache
