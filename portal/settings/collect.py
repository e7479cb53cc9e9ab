"""Settings of `make run` for collectstatic: bundles come before the sources that they replace."""

from __future__ import annotations

from portal.settings import *
from portal.settings import STATICFILES_DIRS, STORAGES, env

STATICFILES_DIRS = [env.ROOT / "build" / "bundles", *STATICFILES_DIRS]
STORAGES["staticfiles"]["BACKEND"] = "whitenoise.storage.CompressedManifestStaticFilesStorage"
