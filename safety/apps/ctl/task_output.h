// Tasks as JSON and as tables. Payloads are never read, so they are never shown.
//
// Threads: pure functions. Blocks: never.
#pragma once

#include "pgqueue/task_query.h"
#include "safety/apps/ctl/output.h"

namespace han::safety {

Json task_json(const pgqueue::TaskView& task);
FieldTable task_table(const pgqueue::TaskView& task);

std::string_view to_string(pgqueue::SubmitOutcome outcome);

}  // namespace han::safety
