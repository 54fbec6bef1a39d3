// Drains no-op jobs with pg-boss, in its fastest settings: fetch and complete loops of its own
// API, several in flight, without supervision, schedules and logs. Its `work` loop polls at most
// twice a second for each worker when batches are short, so it cannot be faster than these loops.
//
//   node pg_boss.mjs --connection STRING --tasks N [--modules DIR]
//        [--batch JOBS] [--concurrency LOOPS]
//
// The clock runs from the first fetch to the last committed completion; the count of completed
// jobs is taken from the table afterwards.

import {
  analyzeSchema, connectionSettings, nowMilliseconds, loadPackages, payload, printResult,
  readArguments, refuseExistingSchema, runPeer,
} from './peer_run.mjs';

const schema = 'pgboss';
const queue = 'noop';
const jobsPerInsert = 5000;

const args = readArguments({ batch: 500, concurrency: 4 });
const [PgBoss, { version }, { Pool }] =
  loadPackages(args, ['pg-boss', 'pg-boss/package.json', 'pg']);

async function submit(boss) {
  const started = nowMilliseconds();
  for (let first = 0; first < args.tasks; first += jobsPerInsert) {
    const count = Math.min(jobsPerInsert, args.tasks - first);
    await boss.insert(Array.from({ length: count },
      (_, offset) => ({ name: queue, data: payload(first + offset) })));
  }
  return (nowMilliseconds() - started) / 1000;
}

// One loop: takes batches until a fetch comes back empty; returns how many it completed.
async function drainLoop(boss) {
  let completed = 0;
  for (;;) {
    const jobs = await boss.fetch(queue, { batchSize: args.batch, priority: false });
    if (jobs.length === 0) return completed;
    const { affected } = await boss.complete(queue, jobs.map((job) => job.id));
    completed += affected;
  }
}

// A fetch that failed looks like an empty one, so the loops start again while they get on.
async function drain(boss) {
  let completed = 0;
  for (let before = -1; completed < args.tasks && completed > before;) {
    before = completed;
    const loops = await Promise.all(
      Array.from({ length: args.concurrency }, () => drainLoop(boss)));
    completed += loops.reduce((sum, count) => sum + count, 0);
  }
  return completed;
}

async function main() {
  const settings = connectionSettings(args.connection);
  const pool = new Pool({ ...settings, max: 1 });
  pool.on('error', () => {});
  await refuseExistingSchema(pool, schema);

  const boss = new PgBoss({
    ...settings, schema, max: args.concurrency, schedule: false, supervise: false,
  });
  boss.on('error', () => {});
  await boss.start();
  await boss.createQueue(queue);
  const submitSeconds = await submit(boss);
  await analyzeSchema(pool, schema);

  const started = nowMilliseconds();
  const completed = await drain(boss);
  const drainSeconds = (nowMilliseconds() - started) / 1000;

  const { rows } = await pool.query(
    `SELECT count(*) FILTER (WHERE state = 'completed')::int AS done, count(*)::int AS total
     FROM ${schema}.job WHERE name = $1`, [queue]);
  if (rows[0].done !== args.tasks || rows[0].total !== args.tasks || completed !== args.tasks) {
    throw new Error(`${rows[0].done} of ${args.tasks} jobs are completed`);
  }
  printResult({
    peer: 'pg-boss',
    version,
    tasks: args.tasks,
    submitSeconds,
    drainSeconds,
    settings: `${args.concurrency} fetch/complete loops, batchSize ${args.batch}, priority off, ` +
      'supervise off, schedule off, analysed',
  });
  await boss.stop({ graceful: false });
  await pool.end();
}

await runPeer(main);
