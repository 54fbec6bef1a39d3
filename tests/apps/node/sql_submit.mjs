// A backend in Node.js that submits by the SQL function alone, inside its own transactions.
//
//   sql_submit.mjs HOST DATABASE USER OUTSIDER
//
// HOST is the folder of the server's unix socket; USER has the API's role, OUTSIDER has none. The
// package `pg` comes from SAFETY_TEST_NODE_MODULES (a folder with node_modules in it) or NODE_PATH.
// Prints what was shown, one line each. Exit 77 when `pg` cannot be found, 1 when a check failed.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';

function loadPg() {
  const folder = process.env.SAFETY_TEST_NODE_MODULES || '.';
  try {
    return createRequire(path.resolve(folder, 'x.js'))('pg');
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    console.log('skipped: the package pg is not there: ./run test installs it where npm is, or ' +
                'install node-pg, or name a folder in SAFETY_TEST_NODE_MODULES');
    process.exit(77);
  }
}

const pg = loadPg();
const [host, database, user, outsider] = process.argv.slice(2);

async function withClient(name, work) {
  const client = new pg.Client({ host, database, user: name });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

// The text never stands in the statement: it travels as a parameter.
async function submit(client, texts, options = {}) {
  const { rows } = await client.query(
    `SELECT ordinal, task_id, outcome FROM message_safety.submit_tasks(
       p_caller => $1, p_kinds => array_fill('text'::text, ARRAY[cardinality($2::bytea[])]),
       p_payloads => $2, p_keys => $3, p_classes => $4)`,
    ['chat', texts.map((text) => Buffer.from(text)), options.keys ?? null,
     options.classes ?? null]);
  return rows;
}

// The message and its task are committed together, or neither is.
async function sendMessage(client, body, key, ending) {
  await client.query('BEGIN');
  await client.query('INSERT INTO messages (body) VALUES ($1)', [body]);
  const [task] = await submit(client, [body], { keys: [key] });
  await client.query(ending);
  return task;
}

async function rejection(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return assert.fail('it was accepted');
}

async function showTransactions(client) {
  const sent = await sendMessage(client, 'kept \u{1f600}', 'message-1', 'COMMIT');
  assert.equal(sent.outcome, 'created');
  console.log('committed: the task is there with the message');
  await sendMessage(client, 'zebra rolled back', 'message-2', 'ROLLBACK');
  console.log('rolled back: neither is there');
  const again = await sendMessage(client, 'kept \u{1f600}', 'message-1', 'ROLLBACK');
  assert.deepEqual([again.outcome, again.task_id], ['duplicate', sent.task_id]);
  console.log('the same key again: the same task');
}

async function showArrays(client) {
  // Any bytes are a text.
  const texts = [Buffer.from([0, 255]), ...Array.from({ length: 999 }, (_, i) => `bulk ${i}`)];
  const rows = await submit(client, texts);
  assert.deepEqual(rows.map((row) => row.ordinal), texts.map((_, i) => i + 1));
  assert.equal(new Set(rows.map((row) => row.task_id)).size, 1000);
  console.log('one call: 1000 tasks, in the order given');
}

async function showErrors(client) {
  const error = await rejection(submit(client, ['fine', 'zebra'], { classes: [1, 77] }));
  assert.equal(error.code, 'HS001');
  assert.equal(error.message, 'task 2 of the call is invalid');
  const words = JSON.stringify([error.message, error.detail, error.hint, error.where]);
  assert.ok(!words.includes('zebra') && !words.includes(Buffer.from('zebra').toString('hex')));
  console.log('a bad task: the error has its position, not its content; nothing was submitted');
  assert.equal((await rejection(client.query('DELETE FROM message_safety.safety_tasks'))).code,
               '42501');
  assert.equal((await rejection(client.query('SELECT payload FROM message_safety.safety_tasks')))
    .code, '42501');
  console.log('the tables are not to be written, payloads not to be read');
}

async function showOutsider(client) {
  assert.equal((await rejection(submit(client, ['zebra outside']))).code, '42501');
  console.log('a user without the role is refused');
}

await withClient(user, async (client) => {
  await showTransactions(client);
  await showArrays(client);
  await showErrors(client);
});
await withClient(outsider, showOutsider);
