#!/usr/bin/env bash
# Installs the peers of the queue benchmark (see package.json) into a cache folder.
#
#   setup.sh DIR
#
# A second call sees that DIR holds the same package.json and returns at once. Exit 3 and one line
# of reason when they cannot be had, 2 for wrong arguments. Pass DIR on as --modules DIR.
set -euo pipefail

if [ $# -ne 1 ]; then
  echo "usage: setup.sh DIR" >&2
  exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

unavailable() {
  echo "peers: $1" >&2
  exit 3
}

for tool in node npm; do
  command -v "$tool" >/dev/null ||
    unavailable "$tool is not installed (Debian packages nodejs and npm)"
done
node -e 'const [a, b] = process.versions.node.split(".").map(Number);
         process.exit(a > 20 || (a === 20 && b >= 11) ? 0 : 1)' ||
  unavailable "Node.js 20.11 or later is needed, this is $(node --version)"
mkdir -p "$1" || unavailable "cannot create the cache folder"
folder=$(cd "$1" && pwd)

# The copy of package.json is written last, so it marks a finished installation.
if cmp -s "$here/package.json" "$folder/installed.json" && [ -d "$folder/node_modules" ]; then
  exit 0
fi
rm -f "$folder/installed.json"
cp "$here/package.json" "$folder/package.json"
(cd "$folder" && timeout 300 npm install --no-audit --no-fund --no-package-lock --ignore-scripts \
  --omit=dev --loglevel=error >install.log 2>&1) ||
  unavailable "npm cannot install the packages, see $folder/install.log"
cp "$here/package.json" "$folder/installed.json"
echo "peers: installed into $folder"
