"""Static files: the build of `make run` with hashed names, else the sources (docs/design/look.md)."""

from __future__ import annotations

from pathlib import Path

from portal.settings import env

_SOURCES = env.ROOT / "static"
STATIC_URL = "/static/"
STATICFILES_DIRS = [_SOURCES]
STATIC_ROOT = env.ROOT / "build" / "static"


def _is_built(manifest: Path = STATIC_ROOT / "staticfiles.json") -> bool:
    """Say whether the build exists and no source is newer: whoever edits one sees it at once."""
    if not manifest.exists():
        return False
    built = manifest.stat().st_mtime
    return all(path.stat().st_mtime <= built for path in _SOURCES.rglob("*"))


STATIC_IS_BUILT = _is_built()
# The guide, as the site /help/ (docs/design/help.md)
MUSTER_GUIDE = env.ROOT / "build" / "site"
WHITENOISE_ROOT = MUSTER_GUIDE if MUSTER_GUIDE.is_dir() else None
WHITENOISE_INDEX_FILE = True
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if STATIC_IS_BUILT
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = not STATIC_IS_BUILT
WHITENOISE_AUTOREFRESH = not STATIC_IS_BUILT
WHITENOISE_MAX_AGE = 300
# Django's hash in the name, or esbuild's in a chunk: such a file never changes.
WHITENOISE_IMMUTABLE_FILE_TEST = r"\.[0-9a-f]{12}\.\w+$|/chunk-[A-Z0-9]{8}\.js$"
