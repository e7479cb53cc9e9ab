#!/usr/bin/env bash
# Install bubblewrap, which isolates jobs from the portal and from each other, where that is allowed.
# Never an obstacle: without it, the portal isolates jobs in another way or says why none can run.
set -euo pipefail

[ "${MUSTER_LOCAL_CLUSTER:-1}" != 0 ] || exit 0
! command -v bwrap >/dev/null || exit 0
command -v apt-get >/dev/null || exit 0
if [ "$(id -u)" = 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  exit 0
fi

install="apt-get update && apt-get install -y --no-install-recommends bubblewrap"
title="Installing bubblewrap, which isolates jobs (once)"
"${PYTHON:-python3}" scripts/progress.py "$title" -- "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive sh -c "$install" || true
