#!/bin/sh
# Makes the secrets of VM2 in a folder (default: secrets, beside this script), those that are not
# there yet: a password of 256 random bits a user, the pepper, and the database's addresses, which
# name the local PostgreSQL of the profile local-db. For a PostgreSQL elsewhere write its addresses
# into message_safety_*_database_url before or after.
#
# The files may be read by all, because containers' users are not this machine's; the folder by its
# owner alone.
set -eu
umask 077

folder=${1:-$(dirname "$0")/secrets}
mkdir -p "$folder"
chmod 700 "$folder"

random() { od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n'; }

# put NAME VALUE: unless there is one.
put() {
  [ ! -s "$folder/$1" ] || return 0
  printf '%s\n' "$2" >"$folder/$1.new"
  chmod 444 "$folder/$1.new"
  mv "$folder/$1.new" "$folder/$1"
  echo "made $folder/$1"
}

for user in message_safety ops ops_health; do put "redis_${user}_password" "$(random)"; done
for user in admin worker operator; do put "postgres_${user}_password" "$(random)"; done
put message_safety_pepper "p1 $(random)"

# encoded NAME: the first line of a secret, as it stands in an address.
encoded() {
  text=$(head -n 1 "$folder/$1")
  case $text in
    *[!A-Za-z0-9]*) printf %s "$text" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g' ;;
    *) printf %s "$text" ;;
  esac
}

# address NAME ROLE USER
address() {
  put "message_safety_$1_database_url" \
    "postgresql://$2:$(encoded "postgres_$3_password")@postgres:5432/message_safety"
}
address worker safety_worker worker
address operator safety_operator operator
address admin postgres admin
