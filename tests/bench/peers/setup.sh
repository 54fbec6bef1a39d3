#!/usr/bin/env bash
# Installs the peers of the queue benchmark (see package.json) into a cache folder.
#
#   setup.sh DIR
#
# Exits as tests/support/npm_install.sh. Pass DIR on as --modules DIR.
set -euo pipefail

if [ $# -ne 1 ]; then
  echo "usage: setup.sh DIR" >&2
  exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/../../support/npm_install.sh" "$here" "$1"
