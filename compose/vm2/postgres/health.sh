#!/bin/sh
# Exits 0 when PostgreSQL lets the worker's role in with its password, and not without; else 1.
# PG_SECRETS: folder of the secrets; PG_HOST and PG_PORT: where the server is.
set -u

fail() {
  echo "health.sh: $1"
  exit 1
}

secret=${PG_SECRETS:-/run/secrets}/postgres_worker_password
[ -r "$secret" ] || fail "the secret of worker cannot be read"
if ! command -v psql >/dev/null; then
  for folder in /usr/lib/postgresql/*/bin; do PATH=$folder:$PATH; done
fi

# ask PASSWORD
ask() {
  PGPASSWORD=$1 PGCONNECT_TIMEOUT=3 psql -w -XAtq -h "${PG_HOST:-127.0.0.1}" -p "${PG_PORT:-5432}" \
    -U safety_worker -d message_safety -c 'SELECT 1' 2>&1
}

[ "$(ask "$(head -n 1 "$secret")")" = 1 ] || fail "safety_worker is not let in"
case $(ask '') in
  *'no password supplied'*) exit 0 ;;
  *) fail "a client without a password was not refused" ;;
esac
