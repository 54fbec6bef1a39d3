#!/usr/bin/env bash
# Installs what a package.json asks for into a cache folder.
#
#   npm_install.sh FOLDER-OF-PACKAGE.JSON CACHE-FOLDER
#
# A second call sees that the cache folder holds the same package.json and returns at once. Exit 3
# and one line of reason when the packages cannot be had, 2 for wrong arguments. "engines" must name
# a least version of Node.js as ">=MAJOR.MINOR".
set -euo pipefail

if [ $# -ne 2 ]; then
  echo "usage: npm_install.sh FOLDER-OF-PACKAGE.JSON CACHE-FOLDER" >&2
  exit 2
fi
wanted=$(cd "$1" && pwd)/package.json

unavailable() {
  echo "npm_install: $1" >&2
  exit 3
}

for tool in node npm; do
  command -v "$tool" >/dev/null ||
    unavailable "$tool is not installed (Debian packages nodejs and npm)"
done
node -e '
  const need = JSON.parse(require("fs").readFileSync(process.argv[1])).engines.node;
  const [, major, minor] = need.match(/^>=(\d+)\.(\d+)$/).map(Number);
  const [a, b] = process.versions.node.split(".").map(Number);
  process.exit(a > major || (a === major && b >= minor) ? 0 : 1)' "$wanted" ||
  unavailable "Node.js is too old, this is $(node --version); see engines in $wanted"
mkdir -p "$2" || unavailable "cannot create the cache folder"
folder=$(cd "$2" && pwd)

# The copy of package.json is written last, so it marks a finished installation.
if cmp -s "$wanted" "$folder/installed.json" && [ -d "$folder/node_modules" ]; then
  exit 0
fi
rm -f "$folder/installed.json"
cp "$wanted" "$folder/package.json"
(cd "$folder" && timeout 300 npm install --no-audit --no-fund --no-package-lock --ignore-scripts \
  --omit=dev --fetch-retries=1 --fetch-timeout=30000 --loglevel=error >install.log 2>&1) ||
  unavailable "npm cannot install the packages, see $folder/install.log"
cp "$wanted" "$folder/installed.json"
echo "npm_install: installed into $folder"
