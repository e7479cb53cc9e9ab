"""The view that answers WebDAV: authentication and tenancy by the portal, the rest by WsgiDAV."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from functools import cache
from http import HTTPStatus
from io import BytesIO
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from wsgidav.error_printer import ErrorPrinter
from wsgidav.request_resolver import RequestResolver
from wsgidav.wsgidav_app import WsgiDAVApp

from datasets.folders.dav.bodies import check_answer, read_xml
from datasets.folders.dav.locks import (
    LockRows,
    folder_of_request,
    live_locks,
    locks_of_request,
)
from datasets.folders.dav.provider import PLACE, SIZE, FolderProvider, RequestedFolder
from datasets.folders.downloads import download_of
from datasets.folders.selectors import find_folder, tree_of
from datasets.folders.services import locked
from portal.core.errors import InvalidInput, NotAuthenticated, NotFound, NotPermitted
from portal.core.messages import Message
from portal.web.transfers import PIECE, announced_size, send_file

log = logging.getLogger(__name__)
MOUNT = "/dav"


@csrf_exempt  # an access token, never a cookie
def dav(request: HttpRequest, workspace: str, path: str = "") -> HttpResponseBase:
    """Answer a request of WebDAV in a workspace."""
    actor = request.actor  # type: ignore[attr-defined]
    if actor is None or actor.token is None:
        raise NotAuthenticated(Message("Send an access token as the password."))
    folder = find_folder(actor, workspace)
    if folder.name != workspace:  # addresses of answers must begin like that of the request
        raise NotFound(Message("There is no workspace {name}.", name=repr(workspace[:100])))
    if request.method in {"GET", "HEAD"} and _is_file(folder, path):
        return send_file(request, download_of(folder, path))
    if request.method == "PROPFIND" and request.headers.get("Depth") not in {"0", "1"}:
        raise NotPermitted(Message("Send Depth: 0 or 1: a workspace may have millions of files."))
    body = None if request.method == "PUT" else read_xml(request)
    if request.method == "PROPFIND" and body is not None and request.headers["Depth"] == "1":
        check_answer(body, _members(folder, path))
    place = RequestedFolder(actor, folder, f"/{request.org.slug}/{folder.name}")  # type: ignore[attr-defined]
    known = folder_of_request.set(folder)
    read = locks_of_request.set(live_locks(folder) if request.method == "PROPFIND" else None)
    try:
        with ExitStack() as stack:
            if request.method in {"LOCK", "DELETE", "MOVE"}:  # one after the other
                stack.enter_context(transaction.atomic())
                locked(folder)
            return _answer(request, place, body)
    finally:
        locks_of_request.reset(read)
        folder_of_request.reset(known)


def _is_file(folder: Any, path: str) -> bool:
    try:
        return tree_of(folder).entry(path).kind == "file"
    except (NotFound, InvalidInput):
        return False


def _members(folder: Any, path: str) -> int:
    try:
        return 1 + tree_of(folder).count(path.strip("/"))
    except (NotFound, InvalidInput):
        return 1


def _answer(request: HttpRequest, place: RequestedFolder, body: bytes | None) -> HttpResponse:
    environ: dict[str, Any] = {
        **request.META,
        "SCRIPT_NAME": "",
        "PATH_INFO": request.path_info[len(MOUNT) :],  # text: Django has decoded it
        "wsgi.input": request if body is None else BytesIO(body),
        "wsgidav.auth.user_name": place.actor.email,
        "wsgidav.auth.roles": (),
        "wsgidav.auth.permissions": (),
        PLACE: place,
        SIZE: announced_size(request),
    }
    if body is not None:
        environ["CONTENT_LENGTH"] = str(len(body))
        environ.pop("HTTP_TRANSFER_ENCODING", None)
    head: dict[str, Any] = {}

    def start_response(status: str, headers: list[tuple[str, str]], _error: Any = None) -> Any:
        head.update(status=int(status.partition(" ")[0]), headers=headers)
        return None

    text = b"".join(_application()(environ, start_response))
    if head["status"] == HTTPStatus.INTERNAL_SERVER_ERROR:  # its text has the exception
        log.error("WebDAV %s failed: %s", request.method, text.decode(errors="replace")[-2000:])
        return HttpResponse("The request failed.\n", status=500, content_type="text/plain")
    answer = HttpResponse(text, status=head["status"])
    del answer["Content-Type"]
    for name, value in head["headers"]:
        if name.lower() not in {"connection", "date"}:  # of the server
            answer[name] = value
    return answer


@cache
def _application() -> WsgiDAVApp:
    return WsgiDAVApp(
        {
            "mount_path": MOUNT,
            "provider_mapping": {"/": FolderProvider()},
            "middleware_stack": [ErrorPrinter, RequestResolver],
            "lock_storage": LockRows(),
            "property_manager": None,
            "logging": {"enable": False},
            "hotfixes": {"re_encode_path_info": False},
            "suppress_version_info": True,
            "block_size": PIECE,
            "verbose": 1,
        }
    )
