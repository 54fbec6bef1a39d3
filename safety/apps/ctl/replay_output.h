// What replay prints: counts by kind, and nothing of any key or value (SPEC I7).
//
// Threads: pure functions. Blocks: never.
#pragma once

#include <string>

#include "safety/apps/ctl/output.h"
#include "safety/replay/rebuild.h"
#include "safety/replay/verify.h"

namespace han::safety {

Json rebuild_json(const Rebuild& rebuild, const RebuildOptions& options, bool is_complete);
RowTable rebuild_table(const Rebuild& rebuild, const RebuildOptions& options);

Json verify_json(const VerifyReport& report, const VerifyOptions& options, bool is_complete);
RowTable verify_table(const VerifyReport& report);
// What stands below the table, each line with its end.
std::string verify_words(const VerifyReport& report, const VerifyOptions& options,
                         bool is_complete);

}  // namespace han::safety
