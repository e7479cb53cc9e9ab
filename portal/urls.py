"""The URL configuration: fixed paths, then those of the apps.

An app has its paths in `urls.py` (from the root), `api/urls.py` (below `/api/v1/`) and
`web/urls.py` (pages, and `platform_pages` below `/platform/`). Fixed paths come first: anything
else is the slug of an organization, so slugs may not be one of them
(`workspaces.organizations.services.RESERVED`).
"""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path
from django.views.i18n import set_language
from drf_spectacular.views import SpectacularSwaggerSplitView

from portal.api import client_view
from portal.api.schema_view import SchemaView
from portal.core.declarations import declarations, modules
from portal.web.guide import missing_page

urlpatterns: list[URLPattern | URLResolver] = [
    path("accounts/language/", set_language, name="account_language"),
    path("help", missing_page, name="help"),
    path("help/", missing_page, name="help"),
    path("help/<path:rest>", missing_page, name="help"),
    path("api/schema/", SchemaView.as_view(), name="schema"),
    path(
        "api/docs/",
        SpectacularSwaggerSplitView.as_view(
            template_name="api_docs.html", url_name="schema", http_method_names=["get", "head"]
        ),
        name="docs",
    ),
    path("api/client/simple/muster-client/", client_view.index, name="client-index"),
    path("api/client/<str:name>", client_view.wheel, name="client-wheel"),
    *(path("", include(found)) for _, found in modules("urls")),
    *(path("api/v1/", include(found)) for _, found in modules("api.urls")),
    *(
        path("platform/", include(list(pages)), {"area": "platform"})
        for _, pages in declarations("web.urls", "platform_pages")
    ),
    *(path("", include(found)) for _, found in modules("web.urls")),
]
handler400 = "portal.web.errors.bad_request"
handler404 = "portal.web.errors.not_found"
handler500 = "portal.web.errors.server_error"
