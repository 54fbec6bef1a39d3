# shellcheck shell=bash
# The Debian packages that ./run needs, and `setup`, which installs those that are missing.
# Sourced by ./run, which has `say`, `fail` and $root.
# shellcheck disable=SC2154

build_packages=(
  g++ cmake ninja-build ccache mold pkgconf git python3 libpq-dev libpqxx-dev libhiredis-dev
  libssl-dev libxxhash-dev libspdlog-dev libfmt-dev libgtest-dev libgmock-dev libvectorscan-dev
  libicu-dev libpsl-dev publicsuffix libc-ares-dev nlohmann-json3-dev libcli11-dev
  libcpp-httplib-dev libyaml-cpp-dev prometheus-cpp-dev libcurl4-openssl-dev)
# docker-compose reads compose/ in a test; no Docker is needed for that.
server_packages=(redis-server postgresql pgbouncer nsd faketime spin docker-compose python3-yaml)
# Version 14 is the one that formatting and clang-tidy are written for; without it (Debian 13) the
# newest one serves for the thread-safety analysis and the fuzzers.
clang_versions=(14 19 18 17 16 15)

clang_packages() { echo "clang-$1 libclang-rt-$1-dev clang-tidy-$1 clang-format-$1"; }

# Prints those of the named packages that are not installed.
missing_of() {
  local installed
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
    sed -n 's/ installed$//p') || true
  printf '%s\n' "$@" | grep -vxF -f <(printf '%s\n' "${installed:--}") || true
}

# Prints the version of the clang that is here, the best first; nothing when there is none.
clang_version() {
  local version
  for version in "${clang_versions[@]}"; do
    if command -v "clang++-$version" >/dev/null; then
      echo "$version"
      return
    fi
  done
}

# Prints the version to install: the best that the package lists or this system have.
clang_version_wanted() {
  local version
  for version in "${clang_versions[@]}"; do
    if command -v "clang++-$version" >/dev/null ||
      apt-cache show "clang-$version" >/dev/null 2>&1; then
      echo "$version"
      return
    fi
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "not root and no sudo; as root run: ${*}"
  fi
}

# Keeps the servers' packages from starting system services; a policy of the machine's own stays.
policy=/usr/sbin/policy-rc.d
policy_is_ours=
hold_services() {
  [ ! -e "$policy" ] || return 0
  policy_is_ours=1
  trap release_services EXIT
  printf '#!/bin/sh\n# Put here by ./run setup for the time of the installation.\nexit 101\n' |
    as_root tee "$policy" >/dev/null
  as_root chmod 755 "$policy"
}
release_services() {
  [ -n "$policy_is_ours" ] || return 0
  policy_is_ours=
  as_root rm -f "$policy"
  trap - EXIT
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" >&2
}

lists_are_fresh=
update_lists() {
  [ -z "$lists_are_fresh" ] || return 0
  say "reading the package lists (apt-get update)"
  as_root apt-get update -qq >&2 || say "apt-get update failed; trying with the lists that are here"
  lists_are_fresh=1
}

# Node only fetches the demo's real mails and the queues that ours is compared with, and one test
# submits from it, so it may be absent; a failed try is remembered, and not made again by every
# call.
setup_optional() {
  local tried=$root/.cache/optional-packages-tried
  if command -v node >/dev/null && command -v npm >/dev/null || [ -e "$tried" ]; then return; fi
  update_lists
  say "installing nodejs npm (for the demo's mails, one test and the queue's peers; optional)"
  if ! apt_install nodejs npm ca-certificates; then
    mkdir -p .cache
    touch "$tried"
    say "going on without node; remove $tried to try again"
  fi
}

# setup GROUP ...: build, servers, checks, optional.
setup() {
  command -v apt-get >/dev/null ||
    fail "this needs Debian 12 or 13 (there is no apt-get here)"
  local group version wanted=() missing optional=
  for group in "$@"; do
    case $group in
      build) wanted+=("${build_packages[@]}") ;;
      servers) wanted+=("${server_packages[@]}") ;;
      optional) optional=1 ;;
      checks)
        version=$(clang_version_wanted)
        if [ -z "$version" ]; then
          update_lists
          version=$(clang_version_wanted)
        fi
        [ -n "$version" ] || fail "no clang package to install: tried ${clang_versions[*]}"
        read -ra packages <<<"$(clang_packages "$version")"
        wanted+=("${packages[@]}")
        ;;
    esac
  done
  mapfile -t missing < <(missing_of "${wanted[@]}")
  if [ ${#missing[@]} -gt 0 ]; then
    update_lists
    say "installing what is needed to build, test and run this: ${missing[*]}"
    hold_services
    apt_install "${missing[@]}" || fail "these packages could not be installed: ${missing[*]}"
    release_services
  fi
  [ -z "$optional" ] || setup_optional
}
