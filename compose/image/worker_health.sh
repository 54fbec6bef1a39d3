#!/bin/bash
# Exits 0 when the worker on this machine says that it is ready (PostgreSQL answers and has the
# schema), else 1 with what it said. HAN_SAFETY_ADMIN_PORT: the settings' admin.port.
set -u
port=${HAN_SAFETY_ADMIN_PORT:-9464}
if ! exec 3<>"/dev/tcp/127.0.0.1/$port"; then
  echo "worker_health.sh: nothing listens on port $port"
  exit 1
fi
printf 'GET /readyz HTTP/1.0\r\nConnection: close\r\n\r\n' >&3
status=
read -r -t 3 _ status _ <&3
[ "$status" = 200 ] && exit 0
# The first line below the head of the answer: what PostgreSQL is.
timeout 1 sed -n '/^\r*$/{n;p;q}' <&3
exit 1
