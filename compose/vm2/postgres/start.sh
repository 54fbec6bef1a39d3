#!/bin/sh
# Starts the local PostgreSQL of VM2, for trying the product where no server is managed elsewhere.
# The first start makes the cluster, the database message_safety and its login roles; what fails
# half way is made anew by the next start. A secret that cannot be read ends it.
#
# Environment, each with a default of the container: PG_SECRETS, PG_RUN (socket; in memory),
# PG_DATA. More arguments are postgres' own.
set -eu
umask 077

secrets=${PG_SECRETS:-/run/secrets}
run=${PG_RUN:-/run/postgresql}
data=${PG_DATA:-/var/lib/postgresql/data}/cluster

fail() {
  echo "start.sh: $1" >&2
  exit 1
}

# The newest version's programs, where they are not on the path.
if ! command -v postgres >/dev/null || ! command -v initdb >/dev/null; then
  for folder in /usr/lib/postgresql/*/bin; do PATH=$folder:$PATH; done
fi
command -v postgres >/dev/null || fail "there is no postgres in this image"

for user in admin worker operator; do
  file=$secrets/postgres_${user}_password
  [ -r "$file" ] || fail "the secret of $user cannot be read"
  [ -n "$(head -n 1 "$file")" ] || fail "the secret of $user is empty"
done
[ -w "$run" ] && [ -w "${data%/*}" ] || fail "user $(id -u) cannot write $run and ${data%/*}"

# The database's rows: login roles with what `safetyctl migrate --roles` gives to the others.
make_roles() {
  psql -v ON_ERROR_STOP=1 -q -h "$run" -U postgres -d postgres <<SQL
\set worker \`head -n 1 '$secrets/postgres_worker_password'\`
\set operator \`head -n 1 '$secrets/postgres_operator_password'\`
CREATE ROLE message_safety_owner NOLOGIN;
CREATE ROLE message_safety_worker NOLOGIN;
CREATE ROLE message_safety_readonly NOLOGIN;
CREATE ROLE safety_worker LOGIN PASSWORD :'worker' IN ROLE message_safety_worker;
CREATE ROLE safety_operator LOGIN PASSWORD :'operator'
  IN ROLE message_safety_owner, message_safety_readonly;
CREATE DATABASE message_safety;
REVOKE ALL ON DATABASE message_safety FROM PUBLIC;
GRANT CONNECT, TEMPORARY ON DATABASE message_safety TO safety_worker, safety_operator;
SQL
}

if [ ! -s "$data/PG_VERSION" ]; then
  rm -rf "$data.new"
  initdb -D "$data.new" -U postgres --pwfile="$secrets/postgres_admin_password" \
    --auth=scram-sha-256 -E UTF8 --no-locale --data-checksums >/dev/null
  {
    echo 'local all all scram-sha-256'
    echo 'host all all all scram-sha-256'
  } >"$data.new/pg_hba.conf"
  # For the time of this start alone: the socket's folder is nobody else's.
  echo 'local all all trust' >"$run/first_hba.conf"
  pg_ctl -D "$data.new" -w -s -o "-c listen_addresses='' -c unix_socket_directories='$run' \
    -c hba_file='$run/first_hba.conf' -c log_min_error_statement=panic" start
  make_roles
  pg_ctl -D "$data.new" -w -s -m fast stop
  rm -f "$run/first_hba.conf"
  mv "$data.new" "$data"
fi

# Texts are parameters of statements: none of them may reach the log.
exec postgres -D "$data" -c listen_addresses='*' -c unix_socket_directories="$run" \
  -c password_encryption=scram-sha-256 -c log_parameter_max_length=0 \
  -c log_parameter_max_length_on_error=0 -c log_error_verbosity=terse \
  -c log_destination=stderr -c logging_collector=off "$@"
