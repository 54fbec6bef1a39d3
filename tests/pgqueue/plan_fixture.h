// PlanFixture: plans of the product's statements, under the settings that they run with.
//
// Threads: one thread at a time.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pgqueue/sql.h"
#include "tests/pgqueue/queue_fixture.h"

namespace han::tests {

class PlanFixture : public QueueFixture {
 protected:
  std::string plan(std::string_view sql, std::vector<pgqueue::Param> params,
                   const std::string& explain = "EXPLAIN (COSTS OFF) ");
  void expect_index(const std::string& plan, const std::string& index);
  // Calls `check` with no statistics, with those of an empty table, and with those of a full one.
  void with_any_statistics(const std::function<void()>& check);

  static std::vector<pgqueue::Param> with(std::vector<pgqueue::Param> params,
                                          const std::vector<pgqueue::Param>& more);
  // The start of a page of the claim index, and its rows.
  static std::vector<pgqueue::Param> page_params();
  // Parts of lanes: class, lane and a position each, 50 of them.
  static std::vector<pgqueue::Param> lane_params();
};

}  // namespace han::tests
