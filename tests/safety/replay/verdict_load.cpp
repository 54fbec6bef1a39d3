#include "tests/safety/replay/verdict_load.h"

#include <algorithm>
#include <chrono>

#include "cache/entry_seal.h"
#include "cache/text_entry.h"
#include "pgqueue/verdict_rows.h"
#include "safety/base/hex.h"

namespace han::tests {

using namespace pgqueue;

namespace {

VerdictRow row_of(std::size_t number, const safety::PepperSet& peppers) {
  const std::string rules_version(32, 'a');
  const auto hash = peppers.current.key.mac("text", "text " + std::to_string(number));
  cache::TextEntry entry{.subject = safety::to_hex(hash),
                         .rules_version = rules_version,
                         .hits = {"scam.gift", "spam.casino"}};
  return {{"text", std::string(safety::as_text(hash)), peppers.current.id, rules_version,
           std::string(32, 'c'), ""},
          "block",
          cache::seal_entry(entry, peppers.current)};
}

}  // namespace

void load_text_verdicts(const std::string& conninfo, const safety::PepperSet& peppers,
                        std::size_t first, std::size_t count) {
  constexpr std::size_t kBatch = 10'000;
  Connection connection(conninfo, Deadline::after(std::chrono::seconds(30)));
  for (std::size_t done = 0; done < count;) {
    std::vector<VerdictRow> rows;
    for (const auto end = std::min(count, done + kBatch); done < end; ++done) {
      rows.push_back(row_of(first + done, peppers));
    }
    Transaction transaction(connection, Durability::kAsynchronous);
    enqueue_verdicts(transaction, std::move(rows));
    transaction.commit(Deadline::after(std::chrono::minutes(5)));
  }
}

std::size_t text_verdict_bytes(const safety::PepperSet& peppers) {
  return row_of(0, peppers).evidence.size();
}

}  // namespace han::tests
