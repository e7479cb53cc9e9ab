"""Installed apps and the order of middleware."""

from __future__ import annotations

from portal.settings.env import ROOT

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.idp.oidc",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_cotton.apps.SimpleAppConfig",
    "portal",
    "portal.core.apps.CoreConfig",
    "portal.series.apps.SeriesConfig",
    "workspaces",
    "clusters",
    "datasets",
    "registry",
    "jobs",
    "experiments",
    "sessions",
    "billing",
    "notifications",
    "monitoring",
    "demo",
]

MIDDLEWARE = [
    "portal.web.requests.RequestMiddleware",  # request id and security policy of every response
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "portal.web.middleware.CompressionMiddleware",
    "portal.web.middleware.StaticFilesMiddleware",
    "portal.web.middleware.BrowserSessionMiddleware",
    "portal.web.middleware.LanguageMiddleware",
    "portal.web.middleware.TimeZoneMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "portal.web.middleware.UserMiddleware",
    "portal.web.middleware.BrowserMessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "portal.web.requests.ErrorMiddleware",  # turns errors into pages or problem+json
    "workspaces.tenancy.http.TenancyMiddleware",  # authenticates, and enters the organization
    # Limits sessions that an organization's own identity provider vouches for.
    "workspaces.identity.session_restrictions.AccountPagesMiddleware",
    "portal.web.requests.HeadMiddleware",
]

ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"
ASGI_APPLICATION = "portal.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "OPTIONS": {
            "builtins": ["django_cotton.templatetags.cotton"],
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django_cotton.cotton_loader.Loader",
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "workspaces.web.context.shell",
            ],
        },
    }
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
