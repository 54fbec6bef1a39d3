// PostgresDoctor: looks at PostgreSQL: schema, roles and grants, settings that would leak texts or
// lose work, partitions, and what grows.
//
// Any role may ask for most of it; what a role may not read is said to be not checked. Nothing is
// changed.
//
// Threads: one thread at a time.
// Owns:    nothing; the connection must outlive it.
// Blocks:  up to the options' deadline for each statement.
// Fails:   by diagnoses.
#pragma once

#include "pgqueue/connection.h"
#include "pgqueue/migrator.h"
#include "safety/doctor/diagnosis.h"
#include "safety/doctor/options.h"

namespace han::safety {

void examine_postgres(pgqueue::Connection& connection, const pgqueue::RoleNames& names,
                      const DoctorOptions& options, Diagnoses& diagnoses);

}  // namespace han::safety
