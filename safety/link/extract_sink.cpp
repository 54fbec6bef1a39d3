#include "safety/link/extract_sink.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "safety/link/extract_char.h"
#include "safety/link/extract_nested.h"
#include "safety/link/extract_scheme.h"

namespace han::safety {
namespace {

// Each label that is not ASCII costs a conversion, whose result often is that it ends no host.
constexpr std::size_t kConversionsPerCandidate = 10;

// http or https, and a host that tries to be one: judged as invalid when Url::parse refuses it.
bool is_refusable(std::string_view url) {
  const std::size_t colon = url.find(':');
  const std::string_view scheme = url.substr(0, colon);
  if (!ends_with_word(scheme, "http") && !ends_with_word(scheme, "https")) return false;
  if (url.substr(colon, 3) != "://") return false;
  const std::string_view rest = url.substr(colon + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/\\?#"));
  return authority.find_first_of(".%") != std::string_view::npos;
}

// "10.0.0.1", or a network as people write it: "10.0.0.0/8".
bool is_bare_address(std::string_view part) {
  const std::size_t slash = part.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view bits = part.substr(slash + 1);
    const bool is_length = bits.size() == 1 || (bits.size() == 2 && bits <= "32" && bits >= "10");
    if (!is_length || !std::all_of(bits.begin(), bits.end(), is_ascii_digit)) return false;
    part = part.substr(0, slash);
  }
  return part.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool is_local(std::string_view host) {
  while (host.ends_with('.')) host.remove_suffix(1);
  return host == "localhost" || host.ends_with(".localhost");
}

}  // namespace

LinkSink::LinkSink(std::string_view text, const ExtractLimits& limits, bool first_only,
                   Extraction& extraction)
    : text_(text),
      limits_(limits),
      first_only_(first_only),
      extraction_(extraction),
      hosts_(limits.candidates_max * kConversionsPerCandidate),
      steps_max_(kExtractStepsPerByte * text.size() + kExtractStepsBase) {}

void LinkSink::read_undisguised(const Disguise* disguise) {
  disguise_ = disguise;
  is_undisguised_ = true;
  text_ = disguise->text();
}

void LinkSink::read_original(const Disguise* disguise) { disguise_ = disguise; }

void LinkSink::go_over_budget() {
  extraction_.is_over_budget = true;
  is_done_ = true;
}

void LinkSink::add_steps(std::size_t steps) {
  extraction_.steps += steps;
  if (extraction_.steps > steps_max_) go_over_budget();
}

void LinkSink::check_hosts() {
  if (hosts_.is_over_budget()) go_over_budget();
}

bool LinkSink::has_known_host(const Url& url) {
  if (url.ip()) return true;
  const std::string_view host = url.host();
  // Resolvers take nothing else for a name.
  const bool is_name = std::all_of(host.begin(), host.end(), [](char c) {
    return is_ascii_alnum(c) || c == '-' || c == '_' || c == '.';
  });
  if (!is_name) return false;
  const std::size_t dot = host.find_last_of('.');
  return dot != std::string_view::npos && dot > 0 && hosts_.is_known_suffix(host.substr(dot + 1));
}

void LinkSink::keep(std::string url, const LinkCandidate& candidate) {
  if (extraction_.links.size() + (has_outer_ ? 1 : 0) >= limits_.links_max) {
    go_over_budget();
    return;
  }
  ExtractedLink link{std::move(url), candidate.start, candidate.end, is_undisguised_,
                     candidate.reading};
  if (is_undisguised_) {
    link.start = disguise_->original_begin(candidate.start);
    link.end = disguise_->original_end(candidate.end);
    if (link.reading != Reading::kNested) link.reading = Reading::kObfuscated;
  } else if (link.reading != Reading::kNested && !text_.substr(0, link.start).ends_with("](")) {
    // Where Markdown has a link's target nobody only mentions it.
    link.is_bare_address = is_bare_address(text_.substr(link.start, link.end - link.start));
  }
  extraction_.links.push_back(std::move(link));
  if (first_only_) is_done_ = true;
}

// Whether it became a link whose URL was parsed, so that there may be others in it.
bool LinkSink::offer_url(std::string url, const LinkCandidate& candidate) {
  if (candidates_ == limits_.candidates_max) {
    go_over_budget();
    return false;
  }
  ++candidates_;
  add_steps(url.size());
  if (is_done_) return false;
  const auto parsed = Url::parse(url);
  const Url* const taken = std::get_if<Url>(&parsed);
  if (taken == nullptr) {
    const bool is_hidden = !is_undisguised_ && disguise_ != nullptr &&
                           disguise_->covers_original(candidate.start, candidate.end);
    if (!candidate.may_be_refused || is_hidden || !is_refusable(url)) return false;
  } else if (candidate.needs_suffix && !has_known_host(*taken) &&
             !(candidate.may_be_local && is_local(taken->host()))) {
    return false;
  }
  keep(std::move(url), candidate);
  return true;
}

bool LinkSink::offer(const LinkCandidate& candidate) {
  if (is_done_) return false;
  if (is_undisguised_ && !disguise_->covers(candidate.start, candidate.end)) return false;
  std::string url(candidate.prefix);
  url += text_.substr(candidate.start, candidate.end - candidate.start);
  if (!offer_url(url, candidate)) return false;
  if (is_done_ || candidate.nested_from == std::string_view::npos) return true;
  const std::size_t lead = candidate.prefix.size();
  // Offsets are those of the text where the prefix would stand; it holds no URL itself.
  const Around around{candidate.start, candidate.start, candidate.end, true,
                      candidate.is_scanned_next};
  offer_nested(std::string_view(url).substr(lead), candidate.nested_from - candidate.start, 1,
               around);
  return true;
}

void LinkSink::offer_inside() {
  // As if a text held it: behind its scheme, and it takes a place itself.
  std::size_t from = 0;
  while (from < text_.size() && is_scheme_char(text_[from])) ++from;
  from = from < text_.size() && text_[from] == ':' ? from + 1 : 0;
  ++candidates_;
  has_outer_ = true;
  offer_nested(text_, from, 1, {0, 0, text_.size(), true, false});
}

void LinkSink::offer_nested(std::string_view url, std::size_t from, std::size_t depth,
                            const Around& around) {
  add_steps(url.size());
  NestedUrls nested_urls(url, from, limits_.nested_depth_max);
  while (!is_done_) {
    const auto nested = nested_urls.next();
    if (!nested) return;
    if (nested->rounds == 0 && around.is_scanned_next) continue;
    const std::size_t levels = nested->rounds == 0 ? 1 : nested->rounds;
    if (depth + levels - 1 > limits_.nested_depth_max) {
      go_over_budget();
      return;
    }
    add_steps(nested->rounds * nested->url.size());
    LinkCandidate candidate{around.start, around.end, {}, Reading::kNested};
    if (around.is_verbatim) {
      candidate.start = around.origin + nested->begin;
      candidate.end = around.origin + nested->end;
    }
    candidate.needs_suffix = nested->needs_suffix;
    candidate.may_be_refused = !nested->needs_suffix;
    if (!offer_url(nested->url, candidate) || is_done_) continue;
    const bool is_verbatim = around.is_verbatim && nested->rounds == 0 && !nested->is_relative;
    const Around inner{candidate.start, candidate.start, candidate.end, is_verbatim, false};
    offer_nested(nested->url, nested->url.find(':') + 1, depth + levels, inner);
  }
}

}  // namespace han::safety
