"""Files of runs and of logged models, at the paths of `mlflow-artifacts:/` URIs.

<experiment>/<run>/artifacts/<path>
<experiment>/models/m-<logged model>/artifacts/<path>
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from experiments import artifacts, uploads
from experiments.api.artifacts import download_of
from experiments.mlflow import traces
from experiments.mlflow.calls import Call, integer
from experiments.mlflow.errors import NotImplementedHere
from experiments.mlflow.registered_models import version_files
from experiments.mlflow.represent import file_json, model_root, page, run_root, without_empty
from experiments.mlflow.routes import route
from experiments.mlflow.rows import model_of, run_of
from experiments.models import LoggedModel, Run
from portal.core.errors import InvalidInput, NotFound, NotPermitted, TooLarge
from portal.core.messages import Message
from portal.web.transfers import Download, announced_size, body_chunks, send_file, stored_file
from registry import selectors as registry
from registry.models import ModelVersion

_MOST_SPANS = 64 << 20  # bytes of the spans of a trace
_RUN_FILES = re.compile(
    r"(?P<experiment>\d+)/(?P<run>[^/]+)/artifacts(?:/(?P<path>.*))?", re.DOTALL
)
_VERSION_FILES = re.compile(r"registered-models/(?P<version>[^/]+)(?:/(?P<path>.*))?", re.DOTALL)
_MODEL_FILES = re.compile(
    r"(?P<experiment>\d+)/models/(?P<model>m-[^/]+)/artifacts(?:/(?P<path>.*))?", re.DOTALL
)


class ArtifactLocation(NamedTuple):
    """A path in the files of a run, a logged model or a version; "" is the top."""

    owner: Run | LoggedModel | ModelVersion
    path: str


@route("GET", "artifacts/list", fields="run_id run_uuid path page_token")
def list_of_run(call: Call) -> Any:
    row = run_of(call, call.run_id())
    files = _files(row, _folder(call.text("path")))
    return without_empty({"root_uri": run_root(row), "files": files})


@route(
    "GET",
    "logged-models/{model_id}/artifacts/directories",
    fields="model_id artifact_directory_path page_token",
)
def list_of_model(call: Call, model_id: str) -> Any:
    row = model_of(call, model_id)
    files = _files(row, _folder(call.text("artifact_directory_path")))
    return without_empty({"root_uri": model_root(row), "files": files})


@route("GET", "mlflow-artifacts/artifacts", fields="path")
def list_below(call: Call) -> Any:
    """List a folder. Unlike the others, this route returns the names without the folder."""
    place = _place(call, call.text("path"))
    start = f"{place.path}/" if place.path else ""
    files = _files(place.owner, place.path)
    return page("files", [{**each, "path": each["path"].removeprefix(start)} for each in files], "")


@route("GET", "mlflow-artifacts/artifacts/{path...}", fields="")
def download(call: Call, path: str) -> HttpResponseBase:
    if trace := traces.trace_at(call, path):
        return HttpResponse(traces.span_file(trace), content_type="application/json")
    place = _place(call, path)
    return _file(call.request, place)


@route("PUT", "mlflow-artifacts/artifacts/{path...}", fields="", is_streaming=True)
def upload(call: Call, path: str) -> Any:
    if trace := traces.trace_at(call, path):
        traces.save_span_file(call, trace, _small_body(call))
        return HttpResponse()
    place = _place(call, path)
    artifacts.put(
        call.actor,
        _writable(place.owner),
        place.path,
        body_chunks(call.request),
        size=announced_size(call.request),
    )
    return HttpResponse()


@route("DELETE", "mlflow-artifacts/artifacts/{path...}", fields="")
def delete(call: Call, path: str) -> Any:
    place = _place(call, path)
    owner = _writable(place.owner)
    artifacts.check_may_write(call.actor, owner)
    for name in [place.path] if place.path else [e.path for e in artifacts.listing(owner)]:
        artifacts.delete_path(call.actor, owner, name)


@route("GET", "get-artifact", fields="run_id run_uuid path")
def download_of_run(call: Call) -> HttpResponseBase:
    row = run_of(call, call.run_id())
    return _file(call.request, ArtifactLocation(row, _folder(call.text("path"))))


@route("GET", "logged-models/{model_id}/artifacts/files", fields="artifact_file_path")
def download_of_model(call: Call, model_id: str) -> HttpResponseBase:
    row = model_of(call, model_id)
    return _file(call.request, ArtifactLocation(row, _folder(call.required("artifact_file_path"))))


@route("POST", "mlflow-artifacts/mpu/create/{path...}", fields="path num_parts")
def start_multipart(call: Call, path: str) -> Any:
    """Begin an upload in parts, and return a URL of the portal for each of them.

    Clients send parts without their own credentials, so the answer repeats those of this request.
    """
    place, count = _file_place(call, path), call.limit("num_parts", 1, uploads.MOST_PARTS)
    upload_id = uploads.start_upload(call.actor, _writable(place.owner), place.path)
    api = call.request.path.partition("/mlflow-artifacts/")[0]
    url = call.request.build_absolute_uri(
        quote(f"{api}/mlflow-artifacts/mpu/upload/{path}/{_file_name(call)}")
    )
    headers = {"Authorization": call.request.headers["Authorization"]}
    return {
        "upload_id": upload_id,
        "credentials": [
            {
                "url": f"{url}?{urlencode({'upload_id': upload_id, 'part': number})}",
                "part_number": number,
                "headers": headers,
            }
            for number in range(1, count + 1)
        ],
    }


@route("PUT", "mlflow-artifacts/mpu/upload/{path...}", fields="upload_id part", is_streaming=True)
def upload_part(call: Call, path: str) -> HttpResponse:
    place, number = _place(call, path), call.integer("part")
    sha256 = uploads.put_part(
        call.actor,
        _writable(place.owner),
        place.path,
        call.required("upload_id"),
        number or 0,
        body_chunks(call.request),
        size=announced_size(call.request),
    )
    return HttpResponse(headers={"ETag": f'"{sha256}"'})


@route("POST", "mlflow-artifacts/mpu/complete/{path...}", fields="path upload_id parts")
def finish_multipart(call: Call, path: str) -> Any:
    place = _file_place(call, path)
    parts = [
        (integer(f"parts[{n}].part_number", each.get("part_number")), str(each.get("etag")))
        for n, each in enumerate(call.objects("parts"))
    ]
    uploads.finish_upload(
        call.actor,
        _writable(place.owner),
        place.path,
        call.required("upload_id"),
        [(number, etag.strip('"')) for number, etag in parts],
    )


@route("POST", "mlflow-artifacts/mpu/abort/{path...}", fields="path upload_id")
def discard_multipart(call: Call, path: str) -> Any:
    place = _file_place(call, path)
    owner, upload_id = _writable(place.owner), call.required("upload_id")
    uploads.discard_upload(call.actor, owner, place.path, upload_id)


def _file_place(call: Call, path: str) -> ArtifactLocation:
    """Return the file that a multipart request names: its folder and the client's own path."""
    return _place(call, f"{path}/{_file_name(call)}")


def _file_name(call: Call) -> str:
    return re.split(r"[/\\]", call.required("path"))[-1]


@route("GET", "mlflow-artifacts/presigned/{path...}", fields="")
def presigned(call: Call, path: str) -> Any:
    """Refuse: clients then read the file through the portal."""
    raise NotImplementedHere(
        Message("Presigned download is not supported for the current artifact repository")
    )


def _small_body(call: Call) -> bytes:
    raw = call.request.read(_MOST_SPANS + 1)
    if len(raw) > _MOST_SPANS:
        raise TooLarge(Message("The spans of a trace are too large."))
    return raw


def _place(call: Call, path: str) -> ArtifactLocation:
    """Return what a path names. Raises NotFound, and InvalidInput for a path that is not clean."""
    path = _folder(path.rstrip("/"))
    if found := _VERSION_FILES.fullmatch(path):
        return ArtifactLocation(version_files(call, found["version"]), found["path"] or "")
    if found := _MODEL_FILES.fullmatch(path):
        owner: Run | LoggedModel = model_of(call, found["model"])
    elif found := _RUN_FILES.fullmatch(path):
        owner = run_of(call, found["run"])
    else:
        raise _no_artifact(path)
    if str(owner.experiment.number) != found["experiment"]:
        raise _no_artifact(path)
    return ArtifactLocation(owner, found["path"] or "")


def _writable(owner: Run | LoggedModel | ModelVersion) -> Run | LoggedModel:
    """Return a run or a logged model. Raises NotPermitted: the files of a version never change."""
    if isinstance(owner, ModelVersion):
        raise NotPermitted(Message("The files of a registered version never change."))
    return owner


def _folder(path: str) -> str:
    """Return a clean path, or "". Raises InvalidInput."""
    if path in ("", "."):
        return ""
    try:
        return artifacts.clean_path(path)
    except InvalidInput as error:
        raise InvalidInput(Message("Invalid path", context="error")) from error


def _files(owner: Run | LoggedModel | ModelVersion, folder: str) -> list[dict[str, Any]]:
    """List a folder. A file has no listing, as in MLflow's server."""
    if isinstance(owner, ModelVersion):
        return _version_listing(owner, folder)
    return [
        file_json(entry.path, None if entry.is_folder else entry.size)
        for entry in artifacts.listing(owner, folder)
        if entry.path != folder
    ]


def _version_listing(version: ModelVersion, folder: str) -> list[dict[str, Any]]:
    start, found = f"{folder}/" if folder else "", {}
    for file in registry.files_of(version):
        if file.path.startswith(start):
            name, slash, _ = file.path[len(start) :].partition("/")
            found[start + name] = file_json(start + name, None if slash else file.size)
    return list(found.values())


def _file(request: HttpRequest, place: ArtifactLocation) -> HttpResponseBase:
    """Return a file, or the range of it that is asked for. Raises NotFound."""
    owner, path = place
    try:
        if isinstance(owner, ModelVersion):
            return send_file(request, _version_file(owner, path))
        return send_file(request, download_of(artifacts.find(owner, path)))
    except NotFound as error:
        raise _no_artifact(path) from error


def _version_file(version: ModelVersion, path: str) -> Download:
    file = registry.find_file(version, path)
    return stored_file(file.org_id, name=file.path, size=file.size, sha256=file.sha256)


def _no_artifact(path: str) -> NotFound:
    return NotFound(Message("No such artifact: '{path}'", path=path[:500]))
