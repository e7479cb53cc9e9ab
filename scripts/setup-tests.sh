#!/usr/bin/env bash
# Install the Debian packages that the test suite uses. Safe to run again; does nothing when all are there.
set -euo pipefail

packages=(
  make python3 python3-venv ca-certificates procps
  postgresql redis-server nginx-light openssl
  gettext
  munge slurmctld slurmd slurmdbd slurmrestd slurm-client mariadb-server
  slurm-wlm-basic-plugins slurm-wlm-mysql-plugin slurm-wlm-jwt-plugin
  chromium fonts-dejavu-core
  podman runc conmon netavark aardvark-dns catatonit golang-github-containers-common busybox-static buildah
  docker-registry
  bubblewrap
  prometheus
  rclone cadaver
  charliecloud-runtime
  python3-torch
  gcc python3-dev libldap-dev libsasl2-dev slapd ldap-utils xmlsec1
)

if ! command -v dpkg-query >/dev/null; then
  echo "This is not Debian, so nothing is installed. The tests need the programs of these packages: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

install="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
if [ "$(id -u)" = 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  printf 'The tests need packages that only root can install. Run this once as root, then "make test" again:\n\n  %s\n\n' "$install" >&2
  exit 1
fi

# The suite starts its own PostgreSQL, Redis and Slurm, so the packages must not start theirs.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
fi

echo "Installing ${#missing[@]} Debian packages that the tests use (once) …"
log=$(mktemp)
if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive sh -c "$install" >"$log" 2>&1; then
  tail -40 "$log" >&2
  echo "The packages could not be installed; the whole log is in $log." >&2
  exit 1
fi
rm -f "$log"
