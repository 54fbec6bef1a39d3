#include "safety/replay/rebuild.h"

#include <algorithm>
#include <utility>

namespace han::safety {
namespace {

// Rows of a page. With the lots that are read ahead it bounds the memory.
constexpr std::int32_t kPageRows = 2'000;
// With a rate, batches are small enough that it pauses about this often.
constexpr std::uint64_t kBatchesPerSecond = 10;

std::size_t batch_size(const RebuildOptions& options) {
  const auto asked = std::max<std::size_t>(options.batch_keys, 1);
  if (options.rows_per_second == 0) return asked;
  return std::clamp<std::size_t>(options.rows_per_second / kBatchesPerSecond, 1, asked);
}

RebuildOptions checked(RebuildOptions options) {
  options.batch_keys = batch_size(options);
  return options;
}

}  // namespace

RebuildCounts& RebuildCounts::operator+=(const RebuildCounts& other) {
  rows += other.rows;
  written += other.written;
  present += other.present;
  duplicate += other.duplicate;
  for (std::size_t i = 0; i < outcomes.size(); ++i) outcomes[i] += other.outcomes[i];
  return *this;
}

Rebuild::Rebuild(pgqueue::Connection& database, cache::Connection& redis, const RowJudge& judge,
                 RebuildOptions options, RebuildHooks hooks)
    : database_(database),
      redis_(redis),
      judge_(judge),
      options_(checked(std::move(options))),
      hooks_(std::move(hooks)),
      began_at_(options_.from),
      place_(options_.from),
      due_(system_clock().now()) {}

RebuildCounts Rebuild::total() const {
  RebuildCounts total;
  for (const auto& [kind, counts] : counts_) total += counts;
  return total;
}

RebuildEnd Rebuild::run() {
  if (check_place() == Flow::kStop) return end_;
  VerdictStream stream(database_, stream_options(judge_, kPageRows, began_at_));
  while (const auto lot = stream.next()) {
    if (take_lot(*lot) == Flow::kStop) return end_;
  }
  send();
  return end_;
}

Rebuild::Flow Rebuild::check_place() {
  if (!began_at_ || !options_.is_from_checked) return Flow::kGoOn;
  // Few rows are read before some are found that could be cached.
  constexpr int kLotsMax = 16;
  cache::CommandBuffer commands;
  {
    VerdictStream stream(database_, stream_options(judge_, kPageRows));
    for (int i = 0; i < kLotsMax && commands.count() == 0; ++i) {
      const auto lot = stream.next();
      if (!lot) break;
      for_each_subject(*lot, [&](const pgqueue::VerdictView& row, int) {
        const JudgedRow judged = judge_.judge(lot->kind, row, system_clock().now() - lot->read_at);
        if (judged.outcome != RowOutcome::kCacheable) return;
        commands.add({"PTTL", cache::key_text(*judged.key)});
      });
    }
  }
  if (commands.count() == 0) return Flow::kGoOn;
  const auto result = redis_.call(commands, Deadline::after(options_.call_timeout));
  if (result.trouble != cache::Trouble::kNone)
    return fail(result.trouble, cache::ErrorClass::kNone);
  std::size_t lost = 0;
  for (const cache::Reply& reply : result.replies) {
    if (reply.is_error()) return fail(cache::Trouble::kNone, reply.error);
    if (reply.integer == cache::kPttlNoKey) ++lost;
  }
  if (2 * lost <= result.replies.size()) return Flow::kGoOn;
  began_at_.reset();
  place_.reset();
  if (hooks_.begin_anew) hooks_.begin_anew();
  return Flow::kGoOn;
}

Rebuild::Flow Rebuild::take_lot(const VerdictLot& lot) {
  if (lot.kind != batch_kind_) {
    if (send() == Flow::kStop) return Flow::kStop;
    batch_kind_ = lot.kind;
  }
  Flow flow = Flow::kGoOn;
  for_each_subject(lot, [&](const pgqueue::VerdictView& row, int count) {
    if (flow == Flow::kStop) return;
    RebuildCounts& counts = counts_[lot.kind];
    counts.rows += static_cast<std::uint64_t>(count);
    counts.duplicate += static_cast<std::uint64_t>(count - 1);
    batch_rows_ += static_cast<std::uint64_t>(count);
    const JudgedRow judged = judge_.judge(lot.kind, row, system_clock().now() - lot.read_at);
    ++counts.outcomes[static_cast<std::size_t>(judged.outcome)];
    batch_hash_ = row.subject_hash;
    if (judged.outcome == RowOutcome::kCacheable) {
      const std::string& key = cache::key_text(*judged.key);
      if (options_.is_dry_run) {
        commands_.add({"PTTL", key});
      } else {
        commands_.add({"SET", key, *row.evidence, "NX", "EX", std::to_string(judged.left.count())});
      }
    }
    const bool is_full = commands_.count() >= options_.batch_keys ||
                         commands_.bytes().size() >= options_.batch_bytes ||
                         batch_rows_ >= static_cast<std::uint64_t>(kPageRows);
    if (is_full) flow = send();
  });
  return flow;
}

Rebuild::Flow Rebuild::send() {
  if (batch_rows_ == 0) return Flow::kGoOn;
  RebuildCounts& counts = counts_[batch_kind_];
  if (commands_.count() > 0) {
    const auto result = redis_.call(commands_, Deadline::after(options_.call_timeout));
    if (result.trouble != cache::Trouble::kNone) {
      return fail(result.trouble, cache::ErrorClass::kNone);
    }
    for (const cache::Reply& reply : result.replies) {
      if (reply.is_error()) return fail(cache::Trouble::kNone, reply.error);
      // SET NX answers nil where there is a value; PTTL a negative number where there is no key.
      const bool is_new = options_.is_dry_run ? reply.integer == cache::kPttlNoKey
                                              : reply.kind != cache::Reply::Kind::kNil;
      ++(is_new ? counts.written : counts.present);
    }
  }
  commands_ = {};
  rows_ += batch_rows_;
  place_ = PlaceToken::at(batch_kind_, batch_hash_);
  if (hooks_.progress) hooks_.progress(batch_kind_, share_of(batch_hash_), rows_);
  const auto now = system_clock().now();
  if (options_.rows_per_second > 0) {
    // Time that was lost is not made up for by a burst.
    due_ = std::max(due_, now) + std::chrono::nanoseconds(std::chrono::seconds(1)) *
                                     static_cast<std::int64_t>(batch_rows_) /
                                     static_cast<std::int64_t>(options_.rows_per_second);
  } else {
    due_ = now;
  }
  batch_rows_ = 0;
  if (hooks_.wait && hooks_.wait(Deadline(due_))) {
    end_.reason = RebuildEnd::Reason::kStopped;
    return Flow::kStop;
  }
  return Flow::kGoOn;
}

Rebuild::Flow Rebuild::fail(cache::Trouble trouble, cache::ErrorClass error) {
  end_ = {RebuildEnd::Reason::kRedis, trouble, error};
  return Flow::kStop;
}

}  // namespace han::safety
