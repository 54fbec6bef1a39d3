#include "safety/replay/verdict_stream.h"

#include <algorithm>
#include <utility>

namespace han::safety {
namespace {

// Few enough for evidence of the largest size, and enough for all configs of one text.
constexpr std::int32_t kPageRowsMin = 32;
constexpr std::int32_t kGrowth = 4;

std::int64_t bytes_of(const pgqueue::VerdictPage& page) {
  std::int64_t bytes = 0;
  for (int i = 0; i < page.size(); ++i) {
    if (const auto evidence = page.row(i).evidence) {
      bytes += static_cast<std::int64_t>(evidence->size());
    }
  }
  return bytes;
}

}  // namespace

using pgqueue::Deadline;
using pgqueue::VerdictPlace;
using pgqueue::VerdictView;

double share_of(std::string_view subject_hash) {
  double share = 0;
  double weight = 1;
  for (std::size_t i = 0; i < 4 && i < subject_hash.size(); ++i) {
    weight /= 256;
    share += weight * static_cast<std::uint8_t>(subject_hash[i]);
  }
  return share;
}

std::int32_t next_page_rows(std::int32_t rows, std::int64_t bytes,
                            const VerdictStreamOptions& options) {
  const std::int64_t fitting = rows * options.page_bytes / std::max<std::int64_t>(bytes, 1);
  const std::int64_t grown = std::min(fitting, static_cast<std::int64_t>(rows) * kGrowth);
  const auto least = std::min(kPageRowsMin, options.page.rows);
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(grown, least, options.page.rows));
}

bool is_same_subject(std::string_view kind, const VerdictView& a, const VerdictView& b) {
  return kind == "text" && a.subject_hash == b.subject_hash && a.pepper_id == b.pepper_id &&
         a.rules_version == b.rules_version;
}

void for_each_subject(const VerdictLot& lot,
                      const std::function<void(const VerdictView& newest, int count)>& take) {
  for (int begin = 0; begin < lot.size;) {
    VerdictView newest = lot.page.row(begin);
    int end = begin + 1;
    for (; end < lot.size; ++end) {
      const VerdictView other = lot.page.row(end);
      if (!is_same_subject(lot.kind, newest, other)) break;
      if (other.age < newest.age) newest = other;
    }
    take(newest, end - begin);
    begin = end;
  }
}

VerdictStreamOptions stream_options(const RowJudge& judge, std::int32_t page_rows,
                                    std::optional<PlaceToken> from) {
  VerdictStreamOptions options{.from = std::move(from), .page = {.rows = page_rows}};
  options.page.evidence_bytes = static_cast<std::int32_t>(cache::kValueBytesMax);
  options.evidence_age_of = [&judge](std::string_view kind) {
    const auto key_kind = key_kind_of(kind);
    return key_kind ? judge.ttl_of(*key_kind) : std::chrono::seconds(0);
  };
  return options;
}

VerdictStream::VerdictStream(pgqueue::Connection& connection, VerdictStreamOptions options)
    : connection_(connection),
      options_(std::move(options)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

VerdictStream::~VerdictStream() {
  thread_.request_stop();
  thread_.join();
}

std::optional<VerdictLot> VerdictStream::next() {
  MutexLock lock(mutex_);
  changed_.wait(lock, [this] {
    mutex_.assert_held();
    return is_over_ || !lots_.empty();
  });
  if (lots_.empty()) {
    if (failure_) std::rethrow_exception(failure_);
    return std::nullopt;
  }
  VerdictLot lot = std::move(lots_.front());
  lots_.pop_front();
  changed_.notify_all();
  return lot;
}

void VerdictStream::run(const std::stop_token& stop) {
  try {
    const auto deadline = [this] { return Deadline::after(options_.statement_timeout); };
    std::optional<std::string> kind;
    if (options_.from) {
      kind = options_.from->kind;
      read_kind(*kind, {.subject_hash = options_.from->hash_begin}, stop);
    }
    while (!stop.stop_requested()) {
      kind = pgqueue::next_verdict_kind(connection_, kind.value_or(""), deadline());
      if (!kind) break;
      read_kind(*kind, {}, stop);
    }
    end(nullptr);
  } catch (...) {
    end(std::current_exception());
  }
}

void VerdictStream::read_kind(const std::string& kind, VerdictPlace place,
                              const std::stop_token& stop) {
  auto limits = options_.page;
  if (options_.evidence_age_of) limits.evidence_age = options_.evidence_age_of(kind);
  limits.rows = std::min(limits.rows, kPageRowsMin);
  while (!stop.stop_requested()) {
    auto page = pgqueue::read_verdict_page(connection_, kind, place, limits,
                                           Deadline::after(options_.statement_timeout));
    if (page.size() == 0) return;
    // More rows of the last subject may follow: it is read again with them. A page of one subject
    // alone is taken as it is.
    int size = page.size();
    while (size > 0 && is_same_subject(kind, page.row(size - 1), page.row(page.size() - 1))) --size;
    if (size == 0) size = page.size();
    place = page.end_at(size);
    limits.rows = next_page_rows(page.size(), bytes_of(page), options_);
    if (!put({kind, std::move(page), size, system_clock().now()}, stop)) return;
  }
}

bool VerdictStream::put(VerdictLot lot, const std::stop_token& stop) {
  MutexLock lock(mutex_);
  const bool has_room = changed_.wait(lock, stop, [this] {
    mutex_.assert_held();
    return lots_.size() < options_.lots_max;
  });
  if (!has_room) return false;
  lots_.push_back(std::move(lot));
  changed_.notify_all();
  return true;
}

void VerdictStream::end(std::exception_ptr failure) {
  MutexLock lock(mutex_);
  is_over_ = true;
  failure_ = std::move(failure);
  changed_.notify_all();
}

}  // namespace han::safety
