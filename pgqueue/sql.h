// Every statement of the product: the hot ones in sql.cpp, beside it those of maintenance
// (sql_maintenance.cpp), those that only read (sql_read.cpp), those of replay (sql_replay.cpp) and
// those that look at the server (sql_health.cpp).
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
extern const std::string_view kLanes;
extern const std::string_view kSuspectsWaiting;
extern const std::string_view kHeartbeat;
extern const std::string_view kLeaseStatus;

extern const std::string_view kRescueSuspects;
extern const std::string_view kParkPaused;
extern const std::string_view kUnpause;
extern const std::string_view kUnpark;
extern const std::string_view kMaintainPartitions;
extern const std::string_view kApplyRetention;

extern const std::string_view kCancel;
extern const std::string_view kPauseKind;
extern const std::string_view kResumeKind;
extern const std::string_view kPausedKinds;
extern const std::string_view kRedrive;
extern const std::string_view kRetry;
extern const std::string_view kEraseTask;

extern const std::string_view kProbe;
extern const std::string_view kHasSchema;
extern const std::string_view kBackendPid;
extern const std::string_view kTakesWrites;
extern const std::string_view kFindTask;
extern const std::string_view kFindCaller;
extern const std::string_view kListLive;
extern const std::string_view kListFinished;
extern const std::string_view kStats;
extern const std::string_view kClassStats;

extern const std::string_view kServerFacts;
extern const std::string_view kSettingValues;
extern const std::string_view kSettingOverrides;
extern const std::string_view kRoleFacts;
extern const std::string_view kGrants;
extern const std::string_view kForeignOwned;
extern const std::string_view kPartitionsAhead;

extern const std::string_view kInsertVerdicts;
extern const std::string_view kFindVerdicts;
extern const std::string_view kNextVerdictKind;
extern const std::string_view kVerdictPage;
extern const std::string_view kVerdictsOfSubjects;

extern const std::string_view kMigrationsExist;
extern const std::string_view kMigrationsApplied;
extern const std::string_view kApplyRoles;

enum class CompletionLog { kOff, kOn };
enum class PayloadRetention { kErase, kKeep };
enum class Audit { kOff, kOn };
// What a completion does about rows that another transaction has locked.
enum class LockedRows { kSkip, kAwait };

// Statements with the parts that the options ask for.
std::string claim(Audit audit);
std::string claim_lanes(Audit audit);
std::string claim_suspect(Audit audit);
std::string give_back(Audit audit);
std::string complete(CompletionLog log, PayloadRetention retention, Audit audit, LockedRows locked);
std::string rescue(Audit audit);
std::string rescue_lanes(Audit audit);
std::string expire(PayloadRetention retention, Audit audit);
std::string dead_letter(PayloadRetention retention, Audit audit);

}  // namespace han::pgqueue::sql
