"""The REST API and its OpenAPI schema."""

from __future__ import annotations

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["portal.api.auth.ActorAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["portal.api.render.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["portal.api.render.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "portal.api.shapes.Schema",
    "EXCEPTION_HANDLER": "portal.api.problems.handle",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Muster",
    "DESCRIPTION": "Jobs, teams, quotas and nodes of a Muster portal. Errors are problem+json (RFC 9457).",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",  # 3.0 has no nullable references
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {
        "deepLinking": True,
        "docExpansion": "none",
        "filter": True,
        "defaultModelsExpandDepth": -1,
        "displayRequestDuration": True,
    },
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "JobStateEnum": "jobs.states.JOB.by_key",
        "NodeStateEnum": "clusters.states.NODE.by_key",
        "SessionStateEnum": "sessions.states.SESSION.by_key",
        "RequestStateEnum": "workspaces.states.REQUEST.by_key",
        "TelemetrySourceKindEnum": ["dcgm", "prometheus"],
    },
    "REDOC_DIST": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "portal.api.schema.tag_operations",
        "portal.api.examples.add_examples",
        "portal.api.schema.declare_errors",
    ],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
}
