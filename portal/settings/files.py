"""Static files, collected once and served by the portal."""

from __future__ import annotations

from portal.settings import env

STATIC_URL = "/static/"
STATICFILES_DIRS = [env.ROOT / "static"]
STATIC_ROOT = env.home() / "static"
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 300
