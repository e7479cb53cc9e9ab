"""What the OpenAPI schema says about all operations: tags, pages of lists and errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from drf_spectacular.types import OpenApiTypes

from portal.core.declarations import declared

# A list of rows of any shape, as `responses={200: ROWS}`
_ROW = {"type": "object", "additionalProperties": {}}
_PROBLEM = {
    "type": "object",
    "description": "An error (RFC 9457). `code` is stable; `detail` says what to do.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "help": {"type": "string", "format": "uri"},
        "retryable": {"type": "boolean"},
        "request_id": {"type": "string"},
        "data": {"type": "object", "additionalProperties": {}},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "field": {"type": "string"},
                    "message": {"type": "string"},
                    "line": {"type": ["integer", "null"]},
                },
                "required": ["field", "message"],
                "additionalProperties": {},
            },
        },
    },
    "required": ["type", "title", "status", "code", "detail", "errors", "retryable"],
    "additionalProperties": {},
}
# The statuses of errors, and whether only requests that change something get them
_ERRORS = {
    400: ("The request is invalid.", False),
    401: ("Nobody is signed in, or the token is invalid.", False),
    403: ("You do not have the permission.", False),
    404: ("It does not exist, or you cannot see it.", False),
    406: ("No other format is offered.", False),
    409: ("It is in another state, the name is taken, or a quota is used up.", False),
    413: ("The body is too large.", True),
    415: ("The body has another content type.", True),
    429: ("Too many requests; `Retry-After` has the seconds to wait.", False),
    410: ("It was deleted.", False),
    503: ("Something is not available; repeat the request.", False),
    507: ("The disk of the portal is full.", True),
}
_READS = {"get", "head", "options"}


@dataclass(frozen=True)
class Tag:
    """A part of the API: `segments` of paths, after the organization if there is one.

    Each app declares its own as TAGS in `api/urls.py`.
    """

    name: str
    order: int
    segments: tuple[str, ...]


@cache
def tags() -> dict[str, Tag]:
    """Return the tags by segment, in the order in which they are shown."""
    found: list[Tag] = sorted(declared("api.urls", "TAGS"), key=lambda tag: tag.order)
    return {segment: tag for tag in found for segment in tag.segments}


class Page:
    """Every list of the API is a page: `items`, and the cursors of the next and previous one.

    drf-spectacular reads this class from `PortalView.pagination_class`, so that a response that is
    declared as `many=True` has the shape that `ListView.answer` and `items` send.
    """

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        cursor = {"type": ["string", "null"]}
        properties = {"items": schema, "next": cursor, "previous": cursor}
        return {"type": "object", "properties": properties, "required": list(properties)}

    def get_schema_operation_parameters(self, view: Any) -> list[Any]:
        return []  # `ListView.parameters` has those of a list


# The bytes of a file, whole or a range of them
FILE: dict[Any, Any] = {
    (200, "application/octet-stream", "*/*"): OpenApiTypes.BINARY,
    (206, "application/octet-stream", "*/*"): OpenApiTypes.BINARY,
    304: None,
    416: None,
}
# A number of a metric, for which JSON may have none
NUMBER = {
    "oneOf": [{"type": "number"}, {"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]}]
}
ROWS = Page().get_paginated_response_schema({"type": "array", "items": _ROW})


def declare_errors(
    result: dict[str, Any], generator: Any, request: Any, public: bool
) -> dict[str, Any]:
    """Declare the errors of all operations; a postprocessing hook of drf-spectacular."""
    parts = result.setdefault("components", {})
    parts.setdefault("schemas", {})["Problem"] = _PROBLEM
    reference = {"schema": {"$ref": "#/components/schemas/Problem"}}
    parts["responses"] = {
        f"Problem{status}": {
            "description": text,
            "content": {"application/problem+json": reference},
        }
        for status, (text, _is_of_changes) in _ERRORS.items()
    }
    for operations in result["paths"].values():
        for method, operation in operations.items():
            for status, (_text, is_of_changes) in _ERRORS.items():
                if not is_of_changes or method not in _READS:
                    answer = {"$ref": f"#/components/responses/Problem{status}"}
                    operation["responses"].setdefault(str(status), answer)
    return result


def tag_of(path: str) -> str:
    """Return the tag of a path below `/api/v1/`. Raises KeyError for a resource without a tag."""
    first, *rest = path.removeprefix("/api/v1/").strip("/").split("/")
    return tags()[rest[1] if first == "orgs" and len(rest) > 1 else first].name


def tag_operations(
    result: dict[str, Any], generator: Any, request: Any, public: bool
) -> dict[str, Any]:
    """Replace the tags of all operations; a postprocessing hook of drf-spectacular."""
    for path, operations in result["paths"].items():
        for operation in operations.values():
            operation["tags"] = [tag_of(path)]
    result["tags"] = [{"name": name} for name in dict.fromkeys(tag.name for tag in tags().values())]
    return result
