"""The table of routes, and the view that serves them.

A training loop calls one of these for each step. Django would try a hundred patterns for each
request; a dictionary finds most routes at once.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt

from experiments.mlflow.calls import Call, data_of
from experiments.mlflow.errors import AlreadyExists, InvalidState, NoRoute
from portal.core.errors import Conflict, InvalidInput, NotAuthenticated, PortalError
from portal.core.messages import Message
from portal.web.errors import answer
from workspaces.api.base import RateLimitedFor, count_request

log = logging.getLogger(__name__)
Handler = Callable[..., Any]
_ADDRESS = re.compile(
    r"(?:(?P<team>[^/]+)/)??"
    r"(?:(?:ajax-)?api/[234]\.0/(?P<api>mlflow(?:-artifacts)?/.*)|(?P<rest>v1/[^/]+|model-versions/get-artifact|[^/]*))",
    re.DOTALL,
)
_NAME_IS_TAKEN = frozenset({"already_exists", "name_taken"})
_plain: dict[tuple[str, str], Handler] = {}
_patterns: list[tuple[str, re.Pattern[str], Handler]] = []
# Handlers that read the request body themselves
_streaming: set[Handler] = set()
# The parameters that each handler knows
_fields: dict[Handler, frozenset[str]] = {}


def route(
    method: str, path: str, *, fields: str | None = None, is_streaming: bool = False
) -> Callable[[Handler], Handler]:
    """Register a handler. `{name}` in a path is one part, and `{name...}` is the rest of it.

    The handler is called with the `Call` and these parts; it returns what is sent as JSON, or a
    response. `fields` are the parameters of the request; others are refused, because they may
    change what is asked for. `is_streaming` says that the handler reads the body itself.
    """

    def register(handler: Handler) -> Handler:
        if "{" in path:
            pattern = re.sub(r"\\{(\w+)(\\\.\\\.\\\.)?\\}", _group, re.escape(path))
            _patterns.append((method, re.compile(pattern, re.DOTALL), handler))
        else:
            _plain[method, path] = handler
        if fields is not None:
            _fields[handler] = _fields.get(handler, frozenset()) | frozenset(fields.split())
        if is_streaming:
            _streaming.add(handler)
        return handler

    return register


def routes() -> list[tuple[str, str]]:
    """Return the method and path of every route, for tests."""
    return [*_plain, *((method, pattern.pattern) for method, pattern, _ in _patterns)]


@csrf_exempt  # tokens only: cookies are refused below
def serve(request: HttpRequest, rest: str) -> HttpResponseBase:
    """Answer a request below `/mlflow/{org}/`."""
    try:
        return _answer(request, rest)
    except PortalError as error:
        return answer(request, _translated(error))


def _answer(request: HttpRequest, rest: str) -> HttpResponseBase:
    team, path = _split(rest)
    if request.entry is None:  # type: ignore[attr-defined]  # a browser's session
        if not path and request.method == "GET":  # clients print links that begin here
            return redirect(f"/{request.org.slug}/experiments")  # type: ignore[attr-defined]
        raise NotAuthenticated(
            Message(
                "Send an access token: set MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and "
                "the token as MLFLOW_TRACKING_PASSWORD."
            )
        )
    limit = count_request(request.actor)  # type: ignore[attr-defined]
    if limit["remaining"] < 0:
        raise RateLimitedFor(limit["reset"])
    handler, parts = _handler(request.method or "", path)
    if handler is None:
        raise _unknown(request, path)
    data = request.GET.dict() if handler in _streaming else data_of(request)
    _check_fields(handler, data, parts)
    slug = team or request.headers.get("X-MLFLOW-WORKSPACE", "").strip()
    call = Call(request, data, "" if slug == "default" and not team else slug)
    if call.team_slug:
        _ = call.team  # a team that does not exist is an error, also where it is not needed
    answered = handler(call, **parts)
    if isinstance(answered, HttpResponseBase):
        return answered
    return HttpResponse(orjson.dumps(answered or {}), content_type="application/json")


def _split(rest: str) -> tuple[str, str]:
    """Return the team, or "", and the path without the prefix of the API."""
    found = _ADDRESS.fullmatch(rest)
    if found is None:
        return "", rest
    path = found["api"]
    return found["team"] or "", found["rest"] if path is None else path.removeprefix("mlflow/")


def _handler(method: str, path: str) -> tuple[Handler | None, Mapping[str, str]]:
    method = "GET" if method == "HEAD" else method
    if handler := _plain.get((method, path)):
        return handler, {}
    for verb, pattern, handler in _patterns:
        if verb == method and (found := pattern.fullmatch(path)):
            return handler, found.groupdict()
    return None, {}


def _check_fields(handler: Handler, data: Mapping[str, Any], parts: Mapping[str, str]) -> None:
    """Raise InvalidInput for parameters that the handler does not know."""
    known = _fields.get(handler)
    if known is None:
        return
    for name, value in data.items():
        if name in parts and name not in known and value != parts[name]:
            raise InvalidInput.at(name, Message("is another one in the path of the request"))
        if name not in known and name not in parts and value is not None:
            raise InvalidInput.at(
                name[:100],
                Message(
                    "is not a parameter of this request; it takes {names}",
                    names=", ".join(sorted({*known, *parts})) or "none",
                ),
            )


def fields_of(method: str, path: str) -> frozenset[str] | None:
    """Return the parameters of a route, for tests."""
    handler, _parts = _handler(method, path)
    return _fields.get(handler) if handler else None


def _unknown(request: HttpRequest, path: str) -> NoRoute:
    """Return the error for an unknown route. The log shows what clients would like to have."""
    agent = request.headers.get("User-Agent", "")
    log.warning("no MLflow route: %s %.200r (%.200r)", request.method, path, agent)
    return NoRoute(
        Message("{method} {path} is not supported.", method=request.method, path=path[:200])
    )


def _translated(error: PortalError) -> PortalError:
    """Return a conflict as MLflow's clients know it: a name that is taken, or a state."""
    if isinstance(error, Conflict):
        is_name = error.kind in _NAME_IS_TAKEN
        return AlreadyExists(error.message) if is_name else InvalidState(error.message)
    return error


def _group(found: re.Match[str]) -> str:
    return f"(?P<{found[1]}>{'.+' if found[2] else '[^/]+'})"
