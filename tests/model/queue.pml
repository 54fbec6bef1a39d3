/* The queue as a Promela model: who owns a task, and what a late holder can change.
 *
 * One `atomic` is one transaction of PostgreSQL, or one step of a process that forgets, ages or
 * dies between two of them; README.md names the statement behind each step. check.py verifies it
 * with these switches:
 *
 *   FAULTS=n          how many faults, of any kind and in any order, can happen
 *   ATTEMPTS_MAX=n    attempts of a task; 2 when absent
 *   LIVENESS          verify that every task ends
 *   NO_FENCE          holders' writes look at the state only
 *   GENERATION_ONLY   at state and generation, not at the token
 *   NO_LOST_CLAIM     claims are durable when they are answered
 *   ASYNC_COMPLETION  completions are not, as claims
 *   NO_RESCUE         nobody takes back expired leases
 *   SUSPECTS_RUN_OUT  suspects are claimed while they have attempts left, as other tasks are
 *   CHECK_TWICE, CHECK_HOLDER, CHECK_TOUCH, CHECK_AGAIN   this assertion only; without them: all
 */

#define TASKS 2
#define WORKERS 2

#ifndef ATTEMPTS_MAX
#define ATTEMPTS_MAX 2
#endif
/* One for the first task, two for the second. */
#define CRASHES_MAX(t) ((t) + 1)

#if !defined(CHECK_TWICE) && !defined(CHECK_HOLDER) && !defined(CHECK_TOUCH) && \
    !defined(CHECK_AGAIN)
#define CHECK_TWICE
#define CHECK_HOLDER
#define CHECK_TOUCH
#define CHECK_AGAIN
#endif

/* The states of a row; from DONE on it is a result, which no statement changes. */
#define QUEUED 0
#define LEASED 1
#define DONE 2
#define EXPIRED 3
#define DEAD 4
#define CANCELLED 5
#define SUPERSEDED 6
#define ENDED(t) (row[t].state >= DONE)

/* The age of a lease: its time is only known to have passed (OVER) or not. */
#define FRESH 0
#define AGING 1
#define OVER 2

typedef Row {
  byte state;
  byte generation;
  byte token; /* 0: none */
  byte attempt;
  byte crashes;
  byte age;
  bool is_suspect;
  bool is_parked;
  bool is_overdue;   /* decide_by has passed */
  bool is_unflushed; /* its last change would not survive a crash of the server */
};

/* What a worker remembers of a task; everything is gone when it dies. */
typedef Lease {
  bool is_held;
  bool is_refused; /* the completion touched no row: ask what became of the lease */
  byte generation;
  byte token;
};

Row row[TASKS];
Lease lease[4]; /* worker * TASKS + task */
byte accepted[TASKS]; /* holders that were told that their completion counts */

/* How many faults, of any kind, can still happen: together, over all tasks and workers. */
byte faults = FAULTS;

#ifdef NO_LOST_CLAIM
#define CAN_LOSE false
#else
#define CAN_LOSE (faults > 0)
#endif

#define L(w, t) lease[(w) * TASKS + (t)]
#define IS_HOLDER(w, t) (L(w, t).is_held && row[t].token == L(w, t).token)
#define IS_COMPLETED(t) (ENDED(t) && row[t].token != 0)

/* The fence of every holder's write, and the test for AlreadyDone. */
#if defined(NO_FENCE)
#define FENCE(w, t) (row[t].state == LEASED)
#define IS_MINE_DONE(w, t) IS_COMPLETED(t)
#elif defined(GENERATION_ONLY)
#define FENCE(w, t) (row[t].state == LEASED && row[t].generation == L(w, t).generation)
#define IS_MINE_DONE(w, t) (IS_COMPLETED(t) && row[t].generation == L(w, t).generation)
#else
#define FENCE(w, t) (row[t].state == LEASED && row[t].generation == L(w, t).generation && \
                     row[t].token == L(w, t).token)
#define IS_MINE_DONE(w, t) (ENDED(t) && row[t].generation == L(w, t).generation && \
                            row[t].token == L(w, t).token)
#endif

/* At most one holder is ever told that its completion of a task counts. */
#ifdef CHECK_TWICE
#define ASSERT_ONCE(t) assert(accepted[t] <= 1)
#else
#define ASSERT_ONCE(t) skip
#endif
/* Only the present holder completes, and only it is told so: a verdict is the holder's. */
#ifdef CHECK_HOLDER
#define ASSERT_HOLDER(w, t) assert(row[t].token == L(w, t).token)
#else
#define ASSERT_HOLDER(w, t) skip
#endif
/* A late holder renews nothing and gives nothing back. */
#ifdef CHECK_TOUCH
#define ASSERT_TOUCH(w, t) assert(L(w, t).token == row[t].token)
#else
#define ASSERT_TOUCH(w, t) skip
#endif
/* A task whose completion was acknowledged is never claimed again. */
#ifdef CHECK_AGAIN
#define ASSERT_NOT_YET(t) assert(accepted[t] == 0)
#else
#define ASSERT_NOT_YET(t) skip
#endif

#define IS_CLAIMABLE(t) (row[t].state == QUEUED && !row[t].is_parked && !row[t].is_suspect && \
                         row[t].attempt < ATTEMPTS_MAX)
/* What bounds a suspect's attempts are its crashes, and its holder, which ends it. */
#ifdef SUSPECTS_RUN_OUT
#define IS_SUSPECT_CLAIMABLE(t) (row[t].state == QUEUED && !row[t].is_parked && \
                                 row[t].is_suspect && row[t].attempt < ATTEMPTS_MAX)
#else
#define IS_SUSPECT_CLAIMABLE(t) (row[t].state == QUEUED && !row[t].is_parked && row[t].is_suspect)
#endif
/* A lease whose token no worker knows always expires; a living holder's only if it stalls. */
#define IS_ORPHAN(t) (row[t].state == LEASED && !IS_HOLDER(0, t) && !IS_HOLDER(1, t))
#define HOLDS_NOTHING(w) (!L(w, 0).is_held && !L(w, 1).is_held)

/* A durable commit flushes all that was written before it. */
inline flush() {
  row[0].is_unflushed = false;
  row[1].is_unflushed = false;
}

inline forget(w, t) {
  L(w, t).is_held = false;
  L(w, t).is_refused = false;
  L(w, t).generation = 0;
  L(w, t).token = 0;
}

/* 128 random bits are a name that nobody has; so is the smallest one that nobody remembers. */
#define IS_KNOWN(t, n) (row[t].token == (n) || L(0, t).token == (n) || L(1, t).token == (n))
inline new_token(t) {
  row[t].token = (!IS_KNOWN(t, 1) -> 1 : (!IS_KNOWN(t, 2) -> 2 : (!IS_KNOWN(t, 3) -> 3 : 4)));
}

inline claim(w, t) {
  ASSERT_NOT_YET(t);
  row[t].state = LEASED;
  row[t].generation++;
  new_token(t);
  row[t].attempt++;
  row[t].age = FRESH;
  row[t].is_unflushed = CAN_LOSE;
  if
  :: L(w, t).is_held = true; /* a lease of an earlier claim is overwritten */
     L(w, t).is_refused = false;
     L(w, t).generation = row[t].generation;
     L(w, t).token = row[t].token;
     printf("worker %d claims task %d: generation %d token %d\n", w, t, row[t].generation,
            row[t].token);
  :: faults > 0 ->
     faults--;
     printf("worker %d claims task %d and does not hear of it\n", w, t);
  fi
}

/* What no later step reads becomes zero, so that equal futures are one state. */
inline clear(t) {
  row[t].attempt = 0;
  row[t].crashes = 0;
  row[t].age = FRESH;
  row[t].is_suspect = false;
  row[t].is_parked = false;
  row[t].is_overdue = false;
}

/* The row leaves the queue for good: the holder's way. */
inline end_by_holder(w, t) {
  ASSERT_HOLDER(w, t);
  if
  :: row[t].is_overdue -> row[t].state = EXPIRED;
  :: !row[t].is_overdue -> row[t].state = DONE;
  :: row[t].attempt >= ATTEMPTS_MAX -> row[t].state = DEAD;
  fi;
  row[t].generation = L(w, t).generation;
  row[t].token = L(w, t).token;
#ifdef ASYNC_COMPLETION
  row[t].is_unflushed = CAN_LOSE;
#else
  clear(t);
  flush();
#endif
}

/* And everybody else's: a generation that no holder has, and no token. */
inline end_by_other(t, final) {
  row[t].state = final;
  row[t].generation++;
  row[t].token = 0;
  clear(t);
  flush();
}

inline back_to_queue(t) {
  row[t].state = QUEUED;
  row[t].generation++;
  row[t].token = 0;
  row[t].age = FRESH;
  flush();
}

inline be_told(w, t) {
  accepted[t]++;
  ASSERT_ONCE(t);
  forget(w, t);
}

inline complete(w, t) {
  if
  :: FENCE(w, t) ->
     printf("worker %d completes task %d: generation %d token %d, the row has %d and %d\n", w, t,
            L(w, t).generation, L(w, t).token, row[t].generation, row[t].token);
     end_by_holder(w, t);
     if
     :: be_told(w, t);
     :: faults > 0 ->
        faults--;
        printf("worker %d does not hear of its commit\n", w);
     fi
  :: FENCE(w, t) && faults > 0 -> /* another transaction holds the row, or the statement was
                                           lost: both end in asking, then trying again */
     faults--;
     L(w, t).is_refused = true;
  :: !FENCE(w, t) ->
     L(w, t).is_refused = true;
     printf("worker %d completes task %d: refused\n", w, t);
  fi
}

inline ask(w, t) {
  L(w, t).is_refused = false;
  if
  :: IS_MINE_DONE(w, t) ->
     printf("worker %d is told that it has completed task %d already\n", w, t);
     ASSERT_HOLDER(w, t);
     be_told(w, t);
  :: FENCE(w, t) -> skip; /* busy: it tries again */
  :: !IS_MINE_DONE(w, t) && !FENCE(w, t) ->
     printf("worker %d has lost task %d\n", w, t);
     forget(w, t);
  fi
}

inline give_back(w, t) {
  if
  :: FENCE(w, t) ->
     printf("worker %d gives back task %d\n", w, t);
     ASSERT_TOUCH(w, t);
     if
     :: faults > 0 -> /* release, snooze, an error that is not the task's fault: uncharged */
        faults--;
        row[t].attempt = (row[t].attempt > 0 -> row[t].attempt - 1 : 0);
     :: row[t].attempt < ATTEMPTS_MAX -> skip; /* a charged failure */
     fi;
     if
     :: row[t].is_parked = true;
     :: row[t].is_parked = false;
     fi;
     back_to_queue(t);
  :: !FENCE(w, t) -> skip; /* LeaseLost */
  fi;
  forget(w, t);
}

/* ---- a worker: claims, and finishes or gives back what it holds --------------------------- */

active [WORKERS] proctype worker() {
  byte t;
end:
  do
  :: atomic {
       IS_CLAIMABLE(0) || IS_CLAIMABLE(1) ->
       if
       :: IS_CLAIMABLE(0) -> t = 0;
       :: IS_CLAIMABLE(1) -> t = 1;
       fi;
       claim(_pid, t);
       t = 0;
     }
  :: atomic { /* a suspect is claimed by a worker that holds nothing else */
       HOLDS_NOTHING(_pid) && (IS_SUSPECT_CLAIMABLE(0) || IS_SUSPECT_CLAIMABLE(1)) ->
       if
       :: IS_SUSPECT_CLAIMABLE(0) -> t = 0;
       :: IS_SUSPECT_CLAIMABLE(1) -> t = 1;
       fi;
       claim(_pid, t);
       t = 0;
     }
  :: atomic {
       (L(_pid, 0).is_held && !L(_pid, 0).is_refused) ||
       (L(_pid, 1).is_held && !L(_pid, 1).is_refused) ->
       if
       :: L(_pid, 0).is_held && !L(_pid, 0).is_refused -> t = 0;
       :: L(_pid, 1).is_held && !L(_pid, 1).is_refused -> t = 1;
       fi;
       if
       :: complete(_pid, t);
       :: faults > 0 || row[t].attempt < ATTEMPTS_MAX -> give_back(_pid, t);
       fi;
       t = 0;
     }
  :: atomic {
       L(_pid, 0).is_refused || L(_pid, 1).is_refused ->
       if
       :: L(_pid, 0).is_refused -> t = 0;
       :: L(_pid, 1).is_refused -> t = 1;
       fi;
       ask(_pid, t);
       t = 0;
     }
  od
}

/* ---- the heartbeat thread of each worker ---------------------------------------------------- */

#define IS_BEATING(w, t) (L(w, t).is_held && (!FENCE(w, t) || row[t].age < OVER))

active [WORKERS] proctype heartbeat() {
  byte t;
end:
  do
  :: atomic {
       IS_BEATING(_pid - WORKERS, 0) || IS_BEATING(_pid - WORKERS, 1) ->
       if
       :: IS_BEATING(_pid - WORKERS, 0) -> t = 0;
       :: IS_BEATING(_pid - WORKERS, 1) -> t = 1;
       fi;
       if
       :: FENCE(_pid - WORKERS, t) ->
          printf("worker %d renews task %d\n", _pid - WORKERS, t);
          ASSERT_TOUCH(_pid - WORKERS, t);
          row[t].age = FRESH;
       :: !FENCE(_pid - WORKERS, t) && IS_MINE_DONE(_pid - WORKERS, t) -> skip;
       :: !FENCE(_pid - WORKERS, t) && !IS_MINE_DONE(_pid - WORKERS, t) ->
          forget(_pid - WORKERS, t); /* cancelled, superseded, rescued: it stops */
       fi;
       t = 0;
     }
  od
}

/* ---- time, for each task's lease ------------------------------------------------------------ */

active [TASKS] proctype lease_time() {
#define MY (_pid - 2 * WORKERS)
end:
  do
  :: atomic { row[MY].state == LEASED && row[MY].age == FRESH -> row[MY].age = AGING; }
  :: atomic { row[MY].age == AGING && IS_ORPHAN(MY) -> row[MY].age = OVER; }
  :: atomic {
       row[MY].age == AGING && !IS_ORPHAN(MY) && faults > 0 ->
       faults--;
       row[MY].age = OVER;
       printf("the lease of task %d expires while its holder lives\n", MY);
     }
  od
}

/* ---- maintenance, of any worker; for each task ---------------------------------------------- */

active [TASKS] proctype maintenance() {
#define IT (_pid - 2 * WORKERS - TASKS)
end:
  do
#ifndef NO_RESCUE
  :: atomic { /* the first crash costs nothing: the task becomes a suspect */
       row[IT].state == LEASED && row[IT].age == OVER && !row[IT].is_suspect ->
       row[IT].is_suspect = true;
       row[IT].attempt--;
       back_to_queue(IT);
       printf("task %d is rescued: generation %d\n", IT, row[IT].generation);
     }
  :: atomic { /* alone: the crash is its own */
       row[IT].state == LEASED && row[IT].age == OVER && row[IT].is_suspect ->
       row[IT].crashes++;
       if
       :: row[IT].crashes >= CRASHES_MAX(IT) -> end_by_other(IT, DEAD);
       :: row[IT].crashes < CRASHES_MAX(IT) -> back_to_queue(IT);
       fi;
       printf("task %d is rescued alone: generation %d\n", IT, row[IT].generation);
     }
#endif
  :: atomic { row[IT].is_overdue && !ENDED(IT) -> end_by_other(IT, EXPIRED); }
  :: atomic {
       row[IT].state == QUEUED && !row[IT].is_parked && !row[IT].is_suspect &&
       row[IT].attempt >= ATTEMPTS_MAX -> end_by_other(IT, DEAD);
     }
  :: atomic { row[IT].state == QUEUED && row[IT].is_parked -> row[IT].is_parked = false; flush(); }
  od
}

/* ---- what else happens: any of it, at any time, or nothing ---------------------------------- */

#define CAN_BE_LATE(t) (!ENDED(t) && !row[t].is_overdue)

active proctype world() {
  byte i;
end:
  do
  :: atomic {
       faults > 0 && !(HOLDS_NOTHING(0) && HOLDS_NOTHING(1)) ->
       if
       :: !HOLDS_NOTHING(0) -> i = 0;
       :: !HOLDS_NOTHING(1) -> i = 1;
       fi;
       faults--;
       forget(i, 0);
       forget(i, 1);
       printf("worker %d crashes\n", i);
       i = 0;
     }
  :: atomic { /* of the changes that were not flushed, any may never have been */
       faults > 0 && (row[0].is_unflushed || row[1].is_unflushed) ->
       faults--;
       do
       :: i < TASKS && row[i].is_unflushed && row[i].state == LEASED ->
          row[i].state = QUEUED;
          row[i].generation--;
          row[i].token = 0;
          row[i].attempt--;
          row[i].age = FRESH;
          printf("the server crashes: the claim of task %d is lost\n", i);
          i++;
#ifdef ASYNC_COMPLETION
       :: i < TASKS && row[i].is_unflushed && ENDED(i) ->
          row[i].state = LEASED;
          printf("the server crashes: the completion of task %d is lost\n", i);
          i++;
#endif
       :: i < TASKS -> i++;
       :: i == TASKS -> break;
       od;
       flush();
       i = 0;
     }
  :: atomic {
       faults > 0 && !(ENDED(0) && ENDED(1)) ->
       if
       :: !ENDED(0) -> i = 0;
       :: !ENDED(1) -> i = 1;
       fi;
       faults--;
       if
       :: end_by_other(i, CANCELLED);
       :: end_by_other(i, SUPERSEDED);
       fi;
       printf("task %d is cancelled or superseded\n", i);
       i = 0;
     }
  :: atomic {
       faults > 0 && (CAN_BE_LATE(0) || CAN_BE_LATE(1)) ->
       if
       :: CAN_BE_LATE(0) -> i = 0;
       :: CAN_BE_LATE(1) -> i = 1;
       fi;
       faults--;
       row[i].is_overdue = true;
       i = 0;
     }
  :: atomic { /* a lower attempts_max is configured */
       faults > 0 && (IS_CLAIMABLE(0) || IS_CLAIMABLE(1)) ->
       if
       :: IS_CLAIMABLE(0) -> i = 0;
       :: IS_CLAIMABLE(1) -> i = 1;
       fi;
       faults--;
       row[i].attempt = ATTEMPTS_MAX;
       i = 0;
     }
  :: break
  od
}

#ifdef LIVENESS
ltl every_task_ends { <> (ENDED(0) && ENDED(1)) }
#endif
