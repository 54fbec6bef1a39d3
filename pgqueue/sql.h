// Every statement of the product, in one place.
//
// Each is commented with its locks and the index that it must use; plans are checked by
// tests/pgqueue/sql_pgtest.cpp. Ranges are read against statement_timestamp() (an index can
// use it), guards against clock_timestamp() (a statement that waited must not trust its start).
//
// Threads: constants. Owns: static storage; views never dangle.
#pragma once

#include <string>
#include <string_view>

namespace han::pgqueue::sql {

extern const std::string_view kBegin;
extern const std::string_view kCommit;
extern const std::string_view kRollback;
extern const std::string_view kSettings;

extern const std::string_view kSubmit;
extern const std::string_view kSubmitText;
extern const std::string_view kCancel;
extern const std::string_view kClaim;
extern const std::string_view kHeartbeat;
extern const std::string_view kLeaseStatus;
extern const std::string_view kGiveBack;
extern const std::string_view kRescue;
extern const std::string_view kUnpark;
extern const std::string_view kMaintainPartitions;

extern const std::string_view kProbe;
extern const std::string_view kBackendPid;
extern const std::string_view kFindTask;
extern const std::string_view kListLive;
extern const std::string_view kListFinished;
extern const std::string_view kStats;

extern const std::string_view kInsertVerdicts;
extern const std::string_view kFindVerdicts;

extern const std::string_view kMigrationsExist;
extern const std::string_view kMigrationsApplied;
extern const std::string_view kApplyRoles;

enum class CompletionLog { kOff, kOn };
enum class PayloadRetention { kErase, kKeep };

// Statements that end tasks, with the parts that the options ask for.
std::string complete(CompletionLog log, PayloadRetention retention);
std::string expire(PayloadRetention retention);
std::string dead_letter(PayloadRetention retention);

}  // namespace han::pgqueue::sql
