#include "safety/link/extract.h"

#include <algorithm>
#include <string>

#include "safety/link/extract_disguise.h"
#include "safety/link/extract_mark.h"
#include "safety/link/extract_scan.h"
#include "safety/link/extract_sink.h"
#include "safety/link/url.h"
#include "safety/text/utf8.h"

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

void sort_by_start(Extraction& extraction) {
  std::stable_sort(extraction.links.begin(), extraction.links.end(),
                   [](const auto& a, const auto& b) { return a.start < b.start; });
}

}  // namespace

Extraction extract_links(std::string_view repaired_text, const ExtractLimits& limits) {
  Extraction extraction = extract(repaired_text, limits, false);
  sort_by_start(extraction);
  return extraction;
}

Extraction extract_nested_links(std::string_view raw_url, const ExtractLimits& limits) {
  Extraction extraction;
  if (raw_url.size() > kUrlBytesMax) return extraction;
  std::string buffer;
  std::string url(repair_utf8(raw_url, buffer));
  std::erase_if(url, [](char c) { return c == '\t' || c == '\n' || c == '\r'; });
  const auto is_edge = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  url.erase(url.begin(), std::find_if_not(url.begin(), url.end(), is_edge));
  LinkSink sink(url, limits, false, extraction);
  sink.offer_inside();
  sort_by_start(extraction);
  return extraction;
}

bool has_links(std::string_view repaired_text) {
  const Extraction extraction = extract(repaired_text, {}, true);
  return extraction.is_over_budget || !extraction.links.empty();
}

}  // namespace han::safety
