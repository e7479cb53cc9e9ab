"""HTTP: what granian serves, and what the embedded process runs in its thread pool."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

from django.core.wsgi import get_wsgi_application

import portal.celery  # noqa: F401  (hints are sent through the current Celery application)

application = get_wsgi_application()
