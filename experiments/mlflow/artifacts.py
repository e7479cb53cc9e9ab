"""Files of runs and of logged models, at the paths of `mlflow-artifacts:/` URIs.

    <experiment>/<run>/artifacts/<path>
    <experiment>/models/m-<logged model>/artifacts/<path>
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from experiments import artifacts
from experiments.mlflow.calls import Call
from experiments.mlflow.errors import NotImplementedHere
from experiments.mlflow.represent import file_json, model_root, page, run_root, without_empty
from experiments.mlflow.routes import route
from experiments.mlflow.rows import model_of, run_of
from experiments.models import LoggedModel, Run
from portal.core.errors import InvalidInput, NotFound, PortalError
from portal.core.messages import Message

_PIECE = 1 << 20
_RANGE = re.compile(r"bytes=(\d*)-(\d*)\Z")
_RUN_FILES = re.compile(r"(?P<experiment>\d+)/(?P<run>[^/]+)/artifacts(?:/(?P<path>.*))?", re.DOTALL)
_MODEL_FILES = re.compile(
    r"(?P<experiment>\d+)/models/(?P<model>m-[^/]+)/artifacts(?:/(?P<path>.*))?", re.DOTALL
)


class Place(NamedTuple):
    """A run or a logged model, and a path in its files; "" is the top."""

    owner: Run | LoggedModel
    path: str


@route("GET", "artifacts/list")
def list_of_run(call: Call) -> Any:
    row = run_of(call, call.run_id())
    files = _files(row, _folder(call.text("path")))
    return without_empty({"root_uri": run_root(row), "files": files})


@route("GET", "logged-models/{model_id}/artifacts/directories")
def list_of_model(call: Call, model_id: str) -> Any:
    row = model_of(call, model_id)
    files = _files(row, _folder(call.text("artifact_directory_path")))
    return without_empty({"root_uri": model_root(row), "files": files})


@route("GET", "mlflow-artifacts/artifacts")
def list_below(call: Call) -> Any:
    """List a folder. Unlike the others, this route returns the names without the folder."""
    place = _place(call, call.text("path"))
    start = f"{place.path}/" if place.path else ""
    files = _files(place.owner, place.path)
    return page(
        "files", [{**each, "path": each["path"].removeprefix(start)} for each in files], ""
    )


@route("GET", "mlflow-artifacts/artifacts/{path...}")
def download(call: Call, path: str) -> HttpResponseBase:
    place = _place(call, path)
    return _file(call.request, place.owner, place.path)


@route("PUT", "mlflow-artifacts/artifacts/{path...}", is_streaming=True)
def upload(call: Call, path: str) -> Any:
    place = _place(call, path)
    length = call.request.META.get("CONTENT_LENGTH", "")
    artifacts.put(
        call.actor,
        place.owner,
        place.path,
        _body(call.request),
        size=int(length) if length.isdigit() else None,
    )


@route("DELETE", "mlflow-artifacts/artifacts/{path...}")
def delete(call: Call, path: str) -> Any:
    place = _place(call, path)
    artifacts.check_may_write(call.actor, place.owner)
    for name in [place.path] if place.path else [e.path for e in artifacts.listing(place.owner)]:
        artifacts.delete_path(call.actor, place.owner, name)


@route("GET", "get-artifact")
def download_of_run(call: Call) -> HttpResponseBase:
    row = run_of(call, call.run_id())
    return _file(call.request, row, _folder(call.text("path")))


@route("GET", "logged-models/{model_id}/artifacts/files")
def download_of_model(call: Call, model_id: str) -> HttpResponseBase:
    row = model_of(call, model_id)
    return _file(call.request, row, _folder(call.required("artifact_file_path")))


@route("POST", "mlflow-artifacts/mpu/{action}/{path...}")
def multipart(call: Call, action: str, path: str) -> Any:
    """Refuse: clients then send the file in one request."""
    raise NotImplementedHere(
        Message("Multipart upload is not supported for the current artifact repository")
    )


@route("GET", "mlflow-artifacts/presigned/{path...}")
def presigned(call: Call, path: str) -> Any:
    """Refuse: clients then read the file through the portal."""
    raise NotImplementedHere(
        Message("Presigned download is not supported for the current artifact repository")
    )


def _place(call: Call, path: str) -> Place:
    """Return what a path names. Raises NotFound, and InvalidInput for a path that is not clean."""
    path = _folder(path.rstrip("/"))
    if found := _MODEL_FILES.fullmatch(path):
        owner: Run | LoggedModel = model_of(call, found["model"])
    elif found := _RUN_FILES.fullmatch(path):
        owner = run_of(call, found["run"])
    else:
        raise _no_artifact(path)
    if str(owner.experiment.number) != found["experiment"]:
        raise _no_artifact(path)
    return Place(owner, found["path"] or "")


def _folder(path: str) -> str:
    """Return a clean path, or "". Raises InvalidInput."""
    if path in ("", "."):
        return ""
    try:
        return artifacts.clean_path(path)
    except InvalidInput as error:
        raise InvalidInput(Message("Invalid path")) from error


def _files(owner: Run | LoggedModel, folder: str) -> list[dict[str, Any]]:
    """List a folder. A file has no listing, as in MLflow's server."""
    return [
        file_json(entry.path, None if entry.is_folder else entry.size)
        for entry in artifacts.listing(owner, folder)
        if entry.path != folder
    ]


def _body(request: HttpRequest) -> Iterator[bytes]:
    while piece := request.read(_PIECE):
        yield piece


def _file(request: HttpRequest, owner: Run | LoggedModel, path: str) -> HttpResponseBase:
    """Return a file, or the range of it that is asked for."""
    if not path:
        raise _no_artifact(path)
    try:
        found = artifacts.find(owner, path)
    except NotFound as error:
        raise _no_artifact(path) from error
    start, end = 0, found.size
    etag = f'"{found.sha256}"'
    is_part = False
    if wanted := _RANGE.match(request.headers.get("Range", "")):
        if request.headers.get("If-Range", etag) == etag:
            start, end, is_part = *_bounds(wanted, found.size), True
    response: HttpResponseBase
    if request.method == "HEAD":
        response = HttpResponse()
    else:
        response = StreamingHttpResponse(artifacts.opened(found, start, end))
    response.status_code = 206 if is_part else 200
    response.headers.update(
        {
            "Content-Type": mimetypes.guess_type(path)[0] or "application/octet-stream",
            "Content-Length": str(end - start),
            "Content-Disposition": "attachment",
            "Accept-Ranges": "bytes",
            "ETag": etag,
            "X-Content-Type-Options": "nosniff",
        }
    )
    if is_part:
        response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{found.size}"
    return response


def _bounds(wanted: re.Match[str], size: int) -> tuple[int, int]:
    """Return start and end of a range. Raises if it is outside of the file."""
    first, last = wanted.groups()
    start, end = 0, size
    if first:
        start, end = int(first), min(int(last) + 1, size) if last else size
    elif last:
        start = max(size - int(last), 0)
    if start >= end:
        raise OutOfRange(Message("The file has only {size} bytes.", size=size))
    return start, end


class OutOfRange(PortalError):
    """The range begins after the end of the file."""

    code, http = "INVALID_PARAMETER_VALUE", 416


def _no_artifact(path: str) -> NotFound:
    return NotFound(Message("No such artifact: '{path}'", path=path[:500]))
