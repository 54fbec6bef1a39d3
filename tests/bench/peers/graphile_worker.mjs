// Drains no-op jobs with graphile-worker, in its fastest settings: a local queue (jobs are fetched
// many at a time), batched completion, no logging, several worker processes.
//
//   node graphile_worker.mjs --connection STRING --tasks N [--modules DIR]
//        [--processes P] [--concurrency JOBS] [--batch LOCAL_QUEUE] [--pool CONNECTIONS]
//
// The clock runs from the first fetch of any process to the moment when the last process has
// found the queue empty and its completions are committed. The count of what is left is taken
// from the table afterwards.

import { fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';
import {
  analyzeSchema, connectionSettings, nowMilliseconds, loadPackages, payload, printResult,
  readArguments, refuseExistingSchema, runPeer,
} from './peer_run.mjs';

const schema = 'graphile_worker';
const task = 'noop';
const jobsPerInsert = 5000;
const drainDeadlineMs = 900_000;

const args = readArguments({ batch: 500, concurrency: 24, pool: 4, processes: 2 });
const [{ Logger, makeWorkerUtils, runOnce }, { version }, { Pool }] =
  loadPackages(args, ['graphile-worker', 'graphile-worker/package.json', 'pg']);

const silent = new Logger(() => () => {});

function makePool(connections) {
  const pool = new Pool({ ...connectionSettings(args.connection), max: connections });
  // A lost connection shows as a failed query; the library wants both handlers in place.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

// Opens every connection beforehand, so that connecting is not measured.
async function warm(pool, connections) {
  const clients = await Promise.all(Array.from({ length: connections }, () => pool.connect()));
  for (const client of clients) client.release();
}

// One worker process: says `ready`, drains at the word `go`, tells when and how much.
async function drainAsWorker() {
  const pool = makePool(args.pool);
  await warm(pool, args.pool);
  process.send('ready');
  await new Promise((resolve) => process.once('message', resolve));

  let executed = 0;
  let firstFetch = 0;
  const events = new EventEmitter();
  // The local queue fetches as soon as it exists.
  events.once('localQueue:init', () => { firstFetch = nowMilliseconds(); });
  await runOnce({
    events,
    logger: silent,
    pgPool: pool,
    preset: {
      worker: {
        completeJobBatchDelay: 0,
        concurrentJobs: args.concurrency,
        failJobBatchDelay: 0,
        localQueue: { size: args.batch },
        maxPoolSize: args.pool,
        preparedStatements: true,
      },
    },
    noHandleSignals: true,
    taskList: { [task]: () => { executed += 1; } },
  });
  const empty = nowMilliseconds();
  await new Promise((resolve) => process.send({ empty, executed, firstFetch }, resolve));
  await pool.end();
}

// Starts the processes, lets them go together, returns their reports.
async function drain() {
  const workers = Array.from({ length: args.processes }, () =>
    fork(fileURLToPath(import.meta.url), process.argv.slice(2),
         { env: { ...process.env, PEER_ROLE: 'worker' } }));
  const timer = setTimeout(() => workers.forEach((worker) => worker.kill()), drainDeadlineMs);
  const message = (worker) => new Promise((resolve, reject) => {
    const died = () => reject(new Error('a worker process ended early'));
    worker.once('exit', died);
    worker.once('message', (content) => {
      worker.removeListener('exit', died);
      resolve(content);
    });
  });
  try {
    await Promise.all(workers.map(message));
    const reports = workers.map(message);
    for (const worker of workers) worker.send('go');
    return await Promise.all(reports);
  } catch (error) {
    workers.forEach((worker) => worker.kill());
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function submit(pool) {
  const utils = await makeWorkerUtils({ logger: silent, pgPool: pool });
  await utils.migrate();
  const started = nowMilliseconds();
  for (let first = 0; first < args.tasks; first += jobsPerInsert) {
    const count = Math.min(jobsPerInsert, args.tasks - first);
    await utils.addJobs(Array.from({ length: count },
      (_, offset) => ({ identifier: task, payload: payload(first + offset) })));
  }
  const seconds = (nowMilliseconds() - started) / 1000;
  await utils.release();
  return seconds;
}

async function main() {
  if (args.batch < 2) throw new Error('--batch must be above 1, a local queue needs it');
  const pool = makePool(2);
  await refuseExistingSchema(pool, schema);
  const submitSeconds = await submit(pool);
  await analyzeSchema(pool, schema);

  const reports = await drain();
  const { rows } = await pool.query(`SELECT count(*)::int AS left FROM ${schema}._private_jobs`);
  const executed = reports.reduce((sum, report) => sum + report.executed, 0);
  if (rows[0].left !== 0 || executed !== args.tasks) {
    throw new Error(`${rows[0].left} jobs are left, ${executed} of ${args.tasks} were executed`);
  }
  const first = Math.min(...reports.filter((r) => r.firstFetch > 0).map((r) => r.firstFetch));
  const last = Math.max(...reports.map((report) => report.empty));
  printResult({
    peer: 'graphile-worker',
    version,
    tasks: args.tasks,
    submitSeconds,
    drainSeconds: (last - first) / 1000,
    settings: `${args.processes} processes, concurrentJobs ${args.concurrency}, localQueue ` +
      `${args.batch}, pool ${args.pool}, completeJobBatchDelay 0, failJobBatchDelay 0, ` +
      'no log, analysed',
  });
  await pool.end();
}

await runPeer(process.env.PEER_ROLE === 'worker' ? drainAsWorker : main);
