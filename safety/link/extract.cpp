#include "safety/link/extract.h"

#include <algorithm>

#include "safety/link/extract_disguise.h"
#include "safety/link/extract_mark.h"
#include "safety/link/extract_scan.h"
#include "safety/link/extract_sink.h"

namespace han::safety {
namespace {

Extraction extract(std::string_view text, const ExtractLimits& limits, bool first_only) {
  Extraction extraction;
  const MarkPresence marks = marks_in(text);
  if (!marks.links && !marks.disguises) return extraction;
  LinkSink sink(text, limits, first_only, extraction);
  std::optional<Disguise> disguise;
  if (marks.disguises) {
    disguise = Disguise::take_off(text, sink.hosts());
    sink.check_hosts();
    sink.add_steps(text.size());
  }
  const Disguise* const found = disguise ? &*disguise : nullptr;
  sink.read_original(found);
  if (marks.links) LinkScan(text, sink).run();
  if (found != nullptr && !sink.is_done()) {
    sink.read_undisguised(found);
    LinkScan(found->text(), sink).run();
  }
  return extraction;
}

}  // namespace

Extraction extract_links(std::string_view repaired_text, const ExtractLimits& limits) {
  Extraction extraction = extract(repaired_text, limits, false);
  std::stable_sort(extraction.links.begin(), extraction.links.end(),
                   [](const auto& a, const auto& b) { return a.start < b.start; });
  return extraction;
}

bool has_links(std::string_view repaired_text) {
  const Extraction extraction = extract(repaired_text, {}, true);
  return extraction.is_over_budget || !extraction.links.empty();
}

}  // namespace han::safety
