// What the runs of all peers share: arguments, the connection, a fresh schema, statistics and the
// one line of result. The peers' packages live in a cache folder (see setup.sh), so they are
// loaded from the folder named by --modules and not from beside this file.

import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';

// One line on the error stream and exit status 1.
function fail(reason) {
  console.error(`error: ${reason}`);
  process.exit(1);
}

// Reads the arguments that every peer knows and the whole numbers that this one adds, given with
// their defaults. Anything unknown or missing ends the run.
export function readArguments(numbers) {
  try {
    return parse(numbers);
  } catch (error) {
    return fail(error.message);
  }
}

function parse(numbers) {
  const options = {
    connection: { type: 'string' },
    modules: { type: 'string' },
    tasks: { type: 'string' },
  };
  for (const name of Object.keys(numbers)) options[name] = { type: 'string' };
  const { values } = parseArgs({ options, strict: true });
  if (!values.connection) throw new Error('--connection is missing');
  const result = {
    connection: values.connection,
    modules: path.resolve(values.modules ?? import.meta.dirname),
  };
  for (const [name, otherwise] of Object.entries({ tasks: 0, ...numbers })) {
    result[name] = values[name] === undefined ? otherwise : Number(values[name]);
    if (!Number.isInteger(result[name]) || result[name] < 1) {
      throw new Error(`--${name} must be a whole number above 0`);
    }
  }
  return result;
}

// Loads installed packages and files of them, by name.
export function loadPackages(args, names) {
  const load = createRequire(path.join(args.modules, 'package.json'));
  try {
    return names.map((name) => load(name));
  } catch {
    return fail(`the packages are not installed in ${args.modules}: run setup.sh`);
  }
}

// Turns a postgres:// address or a libpq string ("host=/tmp/x port=5432 dbname=b user=u") into
// the settings of the `pg` package.
export function connectionSettings(text) {
  if (/^postgres(ql)?:\/\//.test(text)) return { connectionString: text };
  const names = {
    dbname: 'database', host: 'host', password: 'password', port: 'port', user: 'user',
  };
  const settings = {};
  for (const [, key, quoted, plain] of text.matchAll(/([a-z_]+)\s*=\s*(?:'([^']*)'|(\S+))/g)) {
    if (!names[key]) throw new Error(`connection key ${key} is not known`);
    settings[names[key]] = key === 'port' ? Number(plain ?? quoted) : (plain ?? quoted);
  }
  if (Object.keys(settings).length === 0) throw new Error('--connection cannot be read');
  return settings;
}

// A left-over schema would hold jobs of another run; dropping it is not ours to decide.
export async function refuseExistingSchema(pool, schema) {
  const { rowCount } = await pool.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (rowCount !== 0) throw new Error(`schema ${schema} exists: a fresh database is needed`);
}

// Without statistics a peer's planner picks plans that make it several times slower, which would
// be no fair comparison.
export async function analyzeSchema(pool, schema) {
  const { rows } = await pool.query(
    `SELECT format('ANALYZE %I.%I', n.nspname, c.relname) AS statement
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')`, [schema]);
  for (const row of rows) await pool.query(row.statement);
}

// A payload of about 200 bytes as JSON.
export function payload(index) {
  const subject = `chat message ${String(index).padStart(12, '0')}`;
  return { index, subject, text: 'x'.repeat(140) };
}

// Milliseconds on a clock that processes of one machine share.
export function nowMilliseconds() {
  return performance.timeOrigin + performance.now();
}

export function printResult({ peer, version, tasks, submitSeconds, drainSeconds, settings }) {
  console.log(JSON.stringify({
    peer,
    version,
    tasks,
    submit_seconds: Number(submitSeconds.toFixed(3)),
    drain_seconds: Number(drainSeconds.toFixed(3)),
    tasks_per_s: Math.round(tasks / drainSeconds),
    submit_per_s: Math.round(tasks / submitSeconds),
    settings,
  }));
}

// Runs `main` to its end; a failure ends it with exit status 1.
export async function runPeer(main) {
  try {
    await main();
    process.exit(0);
  } catch (error) {
    fail(error.message);
  }
}
