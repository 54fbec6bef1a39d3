// VerdictStream: all verdict rows in the order of their key, read ahead by a thread of its own.
//
// Rows of one text that differ in the config version only stand for one cached value. They are
// adjacent, and a lot never ends between them, so that the newest can be taken, as the live look-up
// does.
//
// Threads:   one thread at a time; one of its own alone uses the connection meanwhile.
// Owns:      the thread and two lots; the connection must outlive it.
// Blocks:    next() until a lot is read; the destructor until the statement that runs has ended.
// Fails:     next() throws what the reading thread met: pgqueue::Error. It is over then.
// Limits:    lots_max lots are held ahead, each of at most page.rows rows and about `page_bytes` of
//            evidence: pages grow from few rows while their evidence is small. Rows come in the
//            order of their hashes, so a page is much like the one before.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "pgqueue/verdict_pages.h"
#include "safety/base/clock.h"
#include "safety/base/mutex.h"
#include "safety/replay/place_token.h"
#include "safety/replay/row_judge.h"

namespace han::safety {

struct VerdictLot {
  std::string kind;
  pgqueue::VerdictPage page;
  // Rows of the page that belong to the lot, from its start.
  int size;
  Clock::SteadyTime read_at;
};

struct VerdictStreamOptions {
  // Where to begin; nothing: before all rows.
  std::optional<PlaceToken> from;
  pgqueue::VerdictPageLimits page;
  std::int64_t page_bytes = std::int64_t{1} << 20;
  // What of `page` is to differ for a kind.
  std::function<std::chrono::seconds(std::string_view kind)> evidence_age_of;
  std::chrono::seconds statement_timeout{60};
  std::size_t lots_max = 2;
};

// Evidence of rows that may still be cached by what `judge`, which must outlive the stream, says.
VerdictStreamOptions stream_options(const RowJudge& judge, std::int32_t page_rows,
                                    std::optional<PlaceToken> from = std::nullopt);

class VerdictStream {
 public:
  VerdictStream(pgqueue::Connection& connection, VerdictStreamOptions options);
  ~VerdictStream();
  VerdictStream(const VerdictStream&) = delete;
  VerdictStream& operator=(const VerdictStream&) = delete;

  // Nullopt: there are no more rows.
  std::optional<VerdictLot> next();

 private:
  void run(const std::stop_token& stop);
  void read_kind(const std::string& kind, pgqueue::VerdictPlace place, const std::stop_token& stop);
  // False: nobody takes it any more.
  bool put(VerdictLot lot, const std::stop_token& stop);
  void end(std::exception_ptr failure);

  pgqueue::Connection& connection_;
  const VerdictStreamOptions options_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<VerdictLot> lots_ GUARDED_BY(mutex_);
  bool is_over_ GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ GUARDED_BY(mutex_);
  std::jthread thread_;
};

// How much of a kind is done at this subject: hashes are spread evenly. 0 to 1.
double share_of(std::string_view subject_hash);

// Rows of the next page, after one of `rows` rows with `bytes` of evidence.
std::int32_t next_page_rows(std::int32_t rows, std::int64_t bytes,
                            const VerdictStreamOptions& options);

// Whether two rows of a kind stand for the same cached value, but for the newest of them.
bool is_same_subject(std::string_view kind, const pgqueue::VerdictView& a,
                     const pgqueue::VerdictView& b);

// Calls `take(row, count)` for each subject of the lot with its newest row and how many it has.
void for_each_subject(
    const VerdictLot& lot,
    const std::function<void(const pgqueue::VerdictView& newest, int count)>& take);

}  // namespace han::safety
