"""The WSGI application, served by granian or by the thread pool of the embedded process."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

from django.core.wsgi import get_wsgi_application

import portal.celery  # noqa: F401  # wake-ups use the current Celery application
from portal.core import declarations

application = get_wsgi_application()
declarations.load(declarations.OF_PAGES)  # what a first request would import
