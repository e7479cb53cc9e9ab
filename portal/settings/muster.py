"""Muster's own settings. Their names are stable; the README lists them."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

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
# The port of the gateway in embedded mode; in server mode nginx passes requests to it.
MUSTER_APPS_PORT = int(env.text("MUSTER_APPS_PORT", str(MUSTER_PORT + 1)))
_base = urlsplit(MUSTER_BASE_URL)
_apps_port = MUSTER_APPS_PORT if MUSTER_EMBEDDED else _base.port
# Where web apps in jobs have an origin of their own, such as *.apps.example.com; the port is that of
# the portal unless it is given. Every name below it must lead to the portal. On a machine alone,
# browsers know *.localhost without any name server.
_on_loopback = MUSTER_EMBEDDED and _base.hostname in ("127.0.0.1", "localhost")
_apps_host = env.text("MUSTER_APPS_HOST", "*.apps.localhost" if _on_loopback else "")
MUSTER_APPS_HOST = _apps_host.removeprefix("*.").lower()
if MUSTER_APPS_HOST and ":" not in MUSTER_APPS_HOST and _apps_port:
    MUSTER_APPS_HOST += f":{_apps_port}"
# The gateway as programs and tunnels reach it.
MUSTER_GATEWAY_URL = (
    urlunsplit(
        (_base.scheme, f"{_base.netloc.removesuffix(f':{_base.port}')}:{_apps_port}", "", "", "")
    )
    if MUSTER_EMBEDDED
    else MUSTER_BASE_URL
)
# Connections of one person to apps, and of all together.
MUSTER_APPS_CONNECTIONS = int(env.text("MUSTER_APPS_CONNECTIONS", "512"))
MUSTER_APPS_CONNECTIONS_IN_ALL = int(env.text("MUSTER_APPS_CONNECTIONS_IN_ALL", "8192"))
# The cluster of a new installation; empty: none. In server mode this machine is not one by default.
MUSTER_FIRST_BACKEND = env.text(
    "MUSTER_FIRST_BACKEND", "local" if env.flag("MUSTER_LOCAL_CLUSTER", MUSTER_EMBEDDED) else ""
)
# The organization that may use this machine if jobs cannot be isolated; default: the oldest.
MUSTER_LOCAL_ORG = env.text("MUSTER_LOCAL_ORG")
# As root: the range of system users for teams whose jobs run on this machine.
MUSTER_LOCAL_UIDS = env.text("MUSTER_LOCAL_UIDS", "70000-79999")
# Bytes kept per log; the rest is recorded as a gap.
MUSTER_LOG_LIMIT = int(env.text("MUSTER_LOG_LIMIT", str(4 << 30)))
# Bytes of an uploaded file.
MUSTER_FILE_LIMIT = int(env.text("MUSTER_FILE_LIMIT", str(64 << 30)))
# Where the files of workspaces are, such as a file system that nodes of clusters share; by default
# in MUSTER_HOME.
MUSTER_WORKSPACES = env.text("MUSTER_WORKSPACES")
# The bucket of S3 that keeps stored files instead of MUSTER_HOME, and how to reach it.
MUSTER_S3_BUCKET = env.text("MUSTER_S3_BUCKET")
MUSTER_S3_PREFIX = env.text("MUSTER_S3_PREFIX").strip("/")
MUSTER_S3_ENDPOINT = env.text("MUSTER_S3_ENDPOINT").rstrip("/")
MUSTER_S3_REGION = env.text("MUSTER_S3_REGION", "us-east-1")
# Without them: those of this machine.
MUSTER_S3_ACCESS_KEY = env.text("MUSTER_S3_ACCESS_KEY")
MUSTER_S3_SECRET_KEY = env.text("MUSTER_S3_SECRET_KEY")
# The endpoint as browsers, clients and nodes reach it; they download from there by signed addresses.
MUSTER_S3_PUBLIC_URL = env.text("MUSTER_S3_PUBLIC_URL").rstrip("/")
# Hosts (with port, if any) from which datasets are imported also at private addresses and without
# encryption.
MUSTER_IMPORT_HOSTS = env.items("MUSTER_IMPORT_HOSTS")
# Directories that this machine sees and from which teams import, as cluster:/path; {org} and {team}
# stand for the slugs of who imports.
MUSTER_IMPORT_ROOTS = env.items("MUSTER_IMPORT_ROOTS")
# Days until what is in the trash is deleted permanently.
MUSTER_TRASH_DAYS = int(env.text("MUSTER_TRASH_DAYS", "30"))
# Days for which measurements of nodes are kept as measured; then one value per five minutes is, for
# a year.
MUSTER_TELEMETRY_RAW_DAYS = int(env.text("MUSTER_TELEMETRY_RAW_DAYS", "30"))
# nginx sends stored files itself (deploy/nginx-server.conf).
MUSTER_ACCEL = env.flag("MUSTER_ACCEL")
# Ask registries about an image before its job is queued.
MUSTER_IMAGE_CHECK = env.flag("MUSTER_IMAGE_CHECK", True)
# Registries that may have private addresses; "http://host:port" uses plain HTTP.
MUSTER_IMAGE_REGISTRIES = env.items("MUSTER_IMAGE_REGISTRIES")
# File of additional trusted certificates.
MUSTER_IMAGE_CA = env.text("MUSTER_IMAGE_CA")
# Hosts (with port, if any) to which audit events may go at private addresses and without
# encryption.
MUSTER_FORWARD_TARGETS = env.items("MUSTER_FORWARD_TARGETS")
# File of additional trusted certificates.
MUSTER_FORWARD_CA = env.text("MUSTER_FORWARD_CA")
# Hosts (with port, if any) to which notifications may be sent at private addresses and without
# encryption.
MUSTER_WEBHOOK_HOSTS = env.items("MUSTER_WEBHOOK_HOSTS")
# Requests per minute, for each token or user.
MUSTER_API_RATE = int(env.text("MUSTER_API_RATE", "6000"))
# Maximum age of a session, however much it is used.
MUSTER_SESSION_HOURS = float(env.text("MUSTER_SESSION_HOURS", "336"))
# Maximum idle time of a session.
MUSTER_SESSION_IDLE_HOURS = float(env.text("MUSTER_SESSION_IDLE_HOURS", "72"))
# Enforce row-level security in PostgreSQL (docs/design/security.md).
MUSTER_ROW_SECURITY = env.flag("MUSTER_ROW_SECURITY", True)
