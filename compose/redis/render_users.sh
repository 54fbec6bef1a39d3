#!/bin/sh
# Makes the ACL file of a Redis server from a template and from secret files.
#
#   render_users.sh TEMPLATE SECRETS_DIR OUTPUT
#
# The secret of user NAME is SECRETS_DIR/redis_NAME_password: one line, or two while the password is
# rotated (current, previous); both let in. The passwords appear in no argument, no environment and
# no output, only their SHA-256. OUTPUT is replaced at once or, after any error, left as it was.
set -eu
LC_ALL=C
export LC_ALL
umask 077

fail() {
  echo "render_users.sh: $1" >&2
  exit 1
}

[ $# -eq 3 ] || fail "usage: render_users.sh TEMPLATE SECRETS_DIR OUTPUT"
template=$1 secrets=$2 output=$3
[ -r "$template" ] || fail "the template cannot be read"
carriage_return=$(printf '\r')

# Prints "#hash" of each password of user $1.
passwords_of() {
  file=$secrets/redis_$1_password
  { [ -f "$file" ] && [ -r "$file" ]; } || fail "the secret of user $1 cannot be read"
  count=0 hashes=
  while IFS= read -r password || [ -n "$password" ]; do
    [ -n "$password" ] || fail "the secret of user $1 has an empty line"
    case $password in
      *"$carriage_return"*) fail "the secret of user $1 has a carriage return" ;;
    esac
    hash=$(printf %s "$password" | sha256sum)
    hashes="$hashes #${hash%% *}"
    count=$((count + 1))
  done <"$file"
  [ "$count" -gt 0 ] || fail "the secret of user $1 is empty"
  [ "$count" -le 2 ] || fail "the secret of user $1 has more than two lines"
  echo "${hashes# }"
}

render() {
  sed -e '/^#/d' -e '/^$/d' "$template" |
    awk '/^ / { sub(/^ +/, " "); printf "%s", $0; next }
         { printf "%s%s", (NR > 1 ? "\n" : ""), $0 }
         END { if (NR > 0) print "" }' |
    while IFS= read -r line; do
      case $line in
        "user "*"{passwords}"*)
          name=${line#user }
          hashes=$(passwords_of "${name%% *}") || exit 1
          echo "${line%%"{passwords}"*}$hashes${line#*"{passwords}"}"
          ;;
        "user "*) echo "$line" ;;
        *) fail "the template has a line that is no user" ;;
      esac
    done
}

new=$output.new
trap 'rm -f "$new"' EXIT
render >"$new" || exit 1
[ -s "$new" ] || fail "the template has no users"
mv "$new" "$output"
