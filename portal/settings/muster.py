"""What is ours: names that stay (the README lists them)."""

from __future__ import annotations

from portal.settings import env

ROOT = env.ROOT
MUSTER_HOME = env.home()
MUSTER_PORT = int(env.text("MUSTER_PORT", "8000"))
MUSTER_BASE_URL = env.text("MUSTER_BASE_URL", f"http://127.0.0.1:{MUSTER_PORT}").rstrip("/")
MUSTER_REDIS_URL = env.text("MUSTER_REDIS_URL")
MUSTER_EMBEDDED = not MUSTER_REDIS_URL
MUSTER_ADMIN_EMAIL = env.text("MUSTER_ADMIN_EMAIL", "admin@example.com")
MUSTER_ADMIN_PASSWORD = env.text("MUSTER_ADMIN_PASSWORD")
MUSTER_EXAMPLES = env.ROOT / "examples"
MUSTER_VERSION = "0.1.0"
# Threads of the embedded process, and of the watcher's in server mode: they seal, check and forward the audit trail.
MUSTER_AUDIT_LOOPS = [
    "portal.core.audit.background.sealer",
    "portal.core.audit.background.keeper",
    "portal.core.audit.background.forwarder",
]
# Loops of the embedded process: the stand-ins for worker, beat and watcher, the node agent (portal/background.py), and those.
MUSTER_BACKGROUND = [
    "jobs.background.ticker",
    "jobs.background.watcher",
    "monitoring.background.agent",
    *MUSTER_AUDIT_LOOPS,
]
# The cluster that a fresh installation has; empty: none. In server mode this machine is one only if that is asked for.
MUSTER_FIRST_BACKEND = env.text(
    "MUSTER_FIRST_BACKEND", "local" if env.flag("MUSTER_LOCAL_CLUSTER", MUSTER_EMBEDDED) else ""
)
MUSTER_LOCAL_ORG = env.text(
    "MUSTER_LOCAL_ORG"
)  # where jobs cannot be isolated: the organization that may use this machine, else the oldest
MUSTER_LOCAL_UIDS = env.text(
    "MUSTER_LOCAL_UIDS", "70000-79999"
)  # as root: system users of the teams whose jobs run on this machine
MUSTER_LOG_LIMIT = int(
    env.text("MUSTER_LOG_LIMIT", str(4 << 30))
)  # bytes kept of one log; the rest is a gap that says so
MUSTER_IMAGE_CHECK = env.flag(
    "MUSTER_IMAGE_CHECK", True
)  # ask registries what an image needs, before its job queues
MUSTER_IMAGE_REGISTRIES = env.items(
    "MUSTER_IMAGE_REGISTRIES"
)  # that may be anywhere, not only on the open internet; "http://host:port" speaks http
MUSTER_IMAGE_CA = env.text(
    "MUSTER_IMAGE_CA"
)  # a file of certificates to trust besides the system's
MUSTER_FORWARD_TARGETS = env.items(
    "MUSTER_FORWARD_TARGETS"
)  # hosts (with port, if any) that audit events may go to although they are not on
MUSTER_FORWARD_CA = env.text(
    "MUSTER_FORWARD_CA"
)  # the open internet, and without encryption; a file of certificates to trust besides the system's
MUSTER_API_RATE = int(
    env.text("MUSTER_API_RATE", "6000")
)  # requests a minute, for each token or person
MUSTER_SESSION_HOURS = float(
    env.text("MUSTER_SESSION_HOURS", "336")
)  # a sign-in is good for so long, however much it is used
MUSTER_SESSION_IDLE_HOURS = float(
    env.text("MUSTER_SESSION_IDLE_HOURS", "72")
)  # and ends when it was not used for so long
MUSTER_ROW_SECURITY = env.flag(
    "MUSTER_ROW_SECURITY", True
)  # PostgreSQL refuses rows of another organization by itself (docs/design/security.md)
