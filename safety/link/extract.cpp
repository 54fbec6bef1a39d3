#include "safety/link/extract.h"

#include <algorithm>

namespace han::safety {

Extraction extract_links(std::string_view repaired_text, const ExtractLimits& limits) {
  Extraction extraction;
  for (const std::string_view scheme : {"http://", "https://"}) {
    for (std::size_t at = repaired_text.find(scheme); at != std::string_view::npos;) {
      const std::size_t end =
          std::min(repaired_text.find_first_of(" \t\r\n<>\"", at), repaired_text.size());
      if (extraction.links.size() == limits.links_max) {
        extraction.is_over_budget = true;
        return extraction;
      }
      if (end > at + scheme.size()) {
        extraction.links.push_back({std::string(repaired_text.substr(at, end - at)), at, end});
      }
      at = repaired_text.find(scheme, end);
    }
  }
  return extraction;
}

bool has_links(std::string_view repaired_text) {
  const Extraction extraction = extract_links(repaired_text);
  return extraction.is_over_budget || !extraction.links.empty();
}

}  // namespace han::safety
