"""portal.settings for tests, with a cheap password hash and a database per process."""

from __future__ import annotations

from tests.rig import environment  # noqa: F401  isort: skip  (first: it sets what the settings read)

from portal.settings import *  # noqa: F403
from portal.settings import DATABASES, MIDDLEWARE, MUSTER_HOME, STORAGES

_inside = MIDDLEWARE.index("portal.web.middleware.CompressionMiddleware") + 1
MIDDLEWARE = [*MIDDLEWARE[:_inside], "tests.rig.markup.Squeeze", *MIDDLEWARE[_inside:]]
STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = True  # whether or not there is a build
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file, not memory: threads of a test must meet the same locks as in production.
    _options = DATABASES["default"]["OPTIONS"]
    _options["init_command"] = _options["init_command"].replace(
        "synchronous=FULL", "synchronous=OFF"
    )
    DATABASES["default"]["TEST"] = {"NAME": str(MUSTER_HOME / "test.sqlite3")}
MUSTER_FIRST_BACKEND = "local"  # also in server mode, which has none by default
