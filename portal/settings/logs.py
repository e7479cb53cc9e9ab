"""Logging: one line per event on standard error."""

from __future__ import annotations

from portal.settings import env

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "portal.core.clock.UtcFormatter",
            "format": "{asctime} {levelname:<7} {name}: {message}",
            "style": "{",
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.text("MUSTER_LOG_LEVEL", "WARNING")},
    "loggers": {
        "django.request": {"level": "ERROR"},
        "jobs": {"level": env.text("MUSTER_LOG_LEVEL", "INFO")},
    },
}
