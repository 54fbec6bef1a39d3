#!/bin/sh
# Exits 0 when Redis answers PING to user ops_health, and to nobody without a password; else 1.
# Nothing is printed but what is wrong. REDIS_SECRETS: folder of the secrets; arguments are those
# of redis-cli, for example -p 6380.
set -u

fail() {
  echo "health.sh: $1"
  exit 1
}

# ping PASSWORD ARGUMENTS: the password is no argument, which other processes could read.
ping() {
  password=$1
  shift
  REDISCLI_AUTH=$password timeout 3 redis-cli --no-auth-warning "$@" PING 2>&1
}

secret=${REDIS_SECRETS:-/run/secrets}/redis_ops_health_password
[ -r "$secret" ] || fail "the secret of ops_health cannot be read"

# While passwords are rotated, the server may still have only the second one.
answer=
while IFS= read -r line || [ -n "$line" ]; do
  [ -n "$line" ] || continue
  answer=$(ping "$line" --user ops_health "$@")
  [ "$answer" != PONG ] || break
done <"$secret"
[ "$answer" = PONG ] || fail "ops_health was not answered: ${answer:-the secret is empty}"

case $(unset REDISCLI_AUTH; timeout 3 redis-cli "$@" PING 2>&1) in
  NOAUTH*) exit 0 ;;
  *) fail "a client without a password was not refused" ;;
esac
