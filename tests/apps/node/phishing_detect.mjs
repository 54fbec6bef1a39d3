// What the npm package eth-phishing-detect says about hosts, by its own list.
//
//   phishing_detect.mjs FILE
//
// FILE has one host a line; prints "allow", "block" or "none" for each, fuzzy matches as "none".
// The package comes from SAFETY_TEST_NODE_MODULES (a folder with node_modules in it). Exit 77 when
// it cannot be found.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

function load(name) {
  const folder = process.env.SAFETY_TEST_NODE_MODULES || '.';
  try {
    return createRequire(path.resolve(folder, 'x.js'))(name);
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    console.log('skipped: the package eth-phishing-detect is not there: ./run test installs it ' +
                'where npm is');
    process.exit(77);
  }
}

const Detector = load('eth-phishing-detect/src/detector');
const config = load('eth-phishing-detect/src/config.json');
// Without near matches, which no list of ours has.
const detector = new Detector({ ...config, tolerance: 0, fuzzylist: [] });
const words = { whitelist: 'allow', blacklist: 'block' };
const hosts = readFileSync(process.argv[2], 'utf8').split('\n').filter((line) => line !== '');
console.log(hosts.map((host) => words[detector.check(host).type] ?? 'none').join('\n'));
