#!/bin/sh
# Starts a Redis of this project: makes its ACL file of the secrets, looks at its folders, and
# becomes redis-server. Anything that is amiss ends it, so that no server runs without passwords.
#
# Environment, each with a default of the container: REDIS_ETC (redis.conf, users.acl.template,
# render_users.sh), REDIS_SECRETS, REDIS_RUN (for the ACL file; in memory), REDIS_DATA.
# REDIS_MAXMEMORY and REDIS_MAXMEMORY_POLICY replace the words of redis.conf. More arguments are
# redis-server's own.
set -eu
umask 077

fail() {
  echo "start.sh: $1" >&2
  exit 1
}

etc=${REDIS_ETC:-/etc/han-redis}
secrets=${REDIS_SECRETS:-/run/secrets}
run=${REDIS_RUN:-/run/redis}
data=${REDIS_DATA:-/data}

for folder in "$run" "$data"; do
  [ -d "$folder" ] && [ -w "$folder" ] || fail "$folder is no folder that user $(id -u) can write"
done
[ -r "$etc/redis.conf" ] || fail "$etc/redis.conf cannot be read"
sh "$etc/render_users.sh" "$etc/users.acl.template" "$secrets" "$run/users.acl" ||
  fail "there are no users, so nothing is started"

set -- --dir "$data" --aclfile "$run/users.acl" "$@"
[ -z "${REDIS_MAXMEMORY:-}" ] || set -- --maxmemory "$REDIS_MAXMEMORY" "$@"
[ -z "${REDIS_MAXMEMORY_POLICY:-}" ] || set -- --maxmemory-policy "$REDIS_MAXMEMORY_POLICY" "$@"
exec redis-server "$etc/redis.conf" "$@"
