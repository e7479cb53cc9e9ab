"""Web settings: hosts, cookies, headers, languages and caches."""

from __future__ import annotations

from urllib.parse import urlsplit

from portal.settings import env
from portal.settings.muster import MUSTER_BASE_URL, MUSTER_REDIS_URL

DEBUG = env.flag("MUSTER_DEBUG")
_base = urlsplit(MUSTER_BASE_URL)
_secure = _base.scheme == "https"
ALLOWED_HOSTS = [
    "127.0.0.1",
    "localhost",
    "[::1]",
    _base.hostname or "localhost",
    *env.items("MUSTER_ALLOWED_HOSTS"),
]
CSRF_TRUSTED_ORIGINS = [f"{_base.scheme}://{_base.netloc}"]

# Cookies ignore ports, so the port is part of the name: portals on one host would share them.
# Over https, the prefix `__Host-` prevents other hosts under the domain from setting the cookie.
# Browsers reject it over http.
_prefix, _suffix = "__Host-" if _secure else "", f"_{_base.port}" if _base.port else ""
SESSION_COOKIE_NAME = f"{_prefix}muster_session{_suffix}"
CSRF_COOKIE_NAME = f"{_prefix}muster_csrf{_suffix}"
MUSTER_ORG_COOKIE_NAME = f"{_prefix}muster_org{_suffix}"  # the last organization seen
MUSTER_MESSAGES_COOKIE_NAME = f"{_prefix}muster_messages{_suffix}"
MESSAGE_STORAGE = "portal.web.middleware.MessageStorage"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _secure
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_ENGINE = "django.contrib.sessions.backends.db"
# nginx redirects; `https` in MUSTER_BASE_URL sets the rest.
SECURE_SSL_REDIRECT = False
SECURE_HSTS_SECONDS = 31_536_000 if _secure else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = False
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if env.flag("MUSTER_BEHIND_PROXY") else None
)
SILENCED_SYSTEM_CHECKS = [
    "security.W005",
    "security.W021",  # subdomains and the preload list are up to the site
    "security.W008",  # nginx redirects to https
]
SECURE_REFERRER_POLICY = "same-origin"
_trusted = _secure or _base.hostname in ("127.0.0.1", "localhost", "::1")
# Elsewhere browsers ignore it with a warning.
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin" if _trusted else None
# Not "cookies", which would end the sessions of other sites under the domain.
MUSTER_CLEAR_SITE_DATA = '"cache"' if _trusted else ""
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 << 20
CSRF_FAILURE_VIEW = "portal.web.errors.csrf_failure"

LANGUAGE_CODE = "en"
# Names in the language itself; see docs/design/languages.md for adding one.
LANGUAGES = [
    ("en", "English"),
    ("ko", "한국어"),
    ("ja", "日本語"),
]
LOCALE_PATHS = [env.ROOT / "locale"]
LANGUAGE_COOKIE_NAME = f"{_prefix}muster_language{_suffix}"
LANGUAGE_COOKIE_AGE = 31_536_000
LANGUAGE_COOKIE_SECURE, LANGUAGE_COOKIE_HTTPONLY, LANGUAGE_COOKIE_SAMESITE = _secure, True, "Lax"
USE_I18N = USE_TZ = True
TIME_ZONE = "UTC"

CACHES = {
    "default": {"BACKEND": "portal.core.cache.ForgivingRedisCache", "LOCATION": MUSTER_REDIS_URL}
    if MUSTER_REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # For `workspaces.identity.rate_limit_cache`: without a limit, so that no entry evicts another.
    # `workspaces.tidy` deletes expired entries.
    "durable": {
        "BACKEND": "portal.core.cache.DurableCache",
        "LOCATION": "workspaces_durable",
        "OPTIONS": {"MAX_ENTRIES": 1 << 60},
    },
}
