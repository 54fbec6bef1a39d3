#include "safety/link/extract_disguise.h"

#include <algorithm>

#include "safety/link/extract_disguise_place.h"
#include "safety/link/extract_mark.h"

namespace han::safety {

std::optional<Disguise> Disguise::take_off(std::string_view text, HostTest& suffixes) {
  Disguise disguise;
  std::size_t done = 0;
  std::size_t mark = next_disguise_mark(text, 0);
  while (mark != std::string_view::npos) {
    std::size_t from = mark + 1;
    if (const auto place = disguise_place(text, mark, done, suffixes)) {
      disguise.text_.append(text, done, place->begin - done);
      const std::size_t new_begin = disguise.text_.size();
      disguise.text_ += place->plain;
      disguise.places_.push_back({place->begin, place->end, new_begin, disguise.text_.size()});
      done = place->end;
      from = std::max(from, done);
    }
    mark = next_disguise_mark(text, from);
  }
  if (disguise.places_.empty()) return std::nullopt;
  disguise.text_.append(text, done);
  return disguise;
}

const Disguise::Place* Disguise::last_place_before(std::size_t new_offset) const {
  const auto after = std::lower_bound(
      places_.begin(), places_.end(), new_offset,
      [](const Place& place, std::size_t offset) { return place.new_begin < offset; });
  return after == places_.begin() ? nullptr : &*(after - 1);
}

bool Disguise::covers(std::size_t begin, std::size_t end) const {
  const Place* const place = last_place_before(end);
  return place != nullptr && place->new_end > begin;
}

bool Disguise::covers_original(std::size_t begin, std::size_t end) const {
  const auto after =
      std::lower_bound(places_.begin(), places_.end(), end,
                       [](const Place& place, std::size_t offset) { return place.begin < offset; });
  return after != places_.begin() && (after - 1)->end > begin;
}

std::size_t Disguise::original_begin(std::size_t begin) const {
  const Place* const place = last_place_before(begin + 1);
  if (place == nullptr) return begin;
  return begin < place->new_end ? place->begin : place->end + (begin - place->new_end);
}

std::size_t Disguise::original_end(std::size_t end) const {
  const Place* const place = last_place_before(end);
  if (place == nullptr) return end;
  return end <= place->new_end ? place->end : place->end + (end - place->new_end);
}

}  // namespace han::safety
