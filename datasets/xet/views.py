"""The routes of Xet. Clients read most files by HTTP instead."""

from __future__ import annotations

import re
from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_http_methods

from datasets.hub.requests import actor_of, answer_json, hub_view
from datasets.models import Repository
from datasets.selectors import visible_repositories
from datasets.xet import reading, shards, xorbs
from datasets.xet.store import find_chunk, offer, put_xorb, register_shard
from portal.core.errors import NotFound, TooLarge
from portal.core.formatting import bytes_text
from portal.core.messages import Message
from portal.web.transfers import announced_size, body_chunks

_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{0,18})")


@hub_view("GET")
def chunk(request: HttpRequest, repository: UUID, prefix: str, chunk: str) -> HttpResponse:
    """Return a shard with xorbs that have a chunk, so that a client need not send it again.

    Clients ask for the first chunk of each file, and hardly one is known: that is looked up first.
    """
    found = find_chunk(repository, chunk)
    body = offer(_repository(request, repository), found)
    return HttpResponse(body, content_type="application/octet-stream")


@hub_view("POST")
def xorb(request: HttpRequest, repository: UUID, prefix: str, xorb: str) -> HttpResponse:
    """Store a xorb."""
    row = _repository(request, repository)
    _check_size(request, xorbs.LARGEST)
    is_new = put_xorb(actor=actor_of(request), repository=row, name=xorb, body=body_chunks(request))
    return answer_json({"was_inserted": is_new})


@hub_view("POST")
def shard(request: HttpRequest, repository: UUID) -> HttpResponse:
    """Put the files of a shard together."""
    row = _repository(request, repository)
    _check_size(request, shards.LARGEST)
    body = b"".join(body_chunks(request))
    new = register_shard(actor=actor_of(request), repository=row, data=body)
    return answer_json({"result": int(new > 0)})


@hub_view("POST")
def telemetry(request: HttpRequest, repository: UUID) -> HttpResponse:
    """Ignore what clients report about their transfers."""
    return answer_json({})


@hub_view("GET")
def reconstruction(request: HttpRequest, repository: UUID, file: str) -> HttpResponse:
    """Say how to read a file, or its range of bytes."""
    row = _repository(request, repository)
    size = reading.size_of(row, file)
    found = _RANGE.fullmatch(request.headers.get("Range", "bytes=0-"))
    start = int(found[1]) if found else 0
    end = min(int(found[2]) + 1 if found and found[2] else size, size)
    if start >= end:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    base = request.build_absolute_uri("/xet/parts/")
    return answer_json(reading.reconstruction(row, file, start, end, base))


@require_http_methods(["GET"])
def part(request: HttpRequest, signature: str) -> StreamingHttpResponse:
    """Send chunks at the address that `reconstruction` gave; its signature is the permission."""
    found = reading.part_of(signature)
    response = StreamingHttpResponse(
        found.pieces(), status=206, content_type="application/octet-stream"
    )
    response.headers["Content-Length"] = str(found.packed)
    return response


def _repository(request: HttpRequest, pk: UUID) -> Repository:
    row = visible_repositories(actor_of(request)).filter(id=pk).first()
    if row is None:
        raise NotFound(Message("There is no such repository."), code="no_repository")
    return row


def _check_size(request: HttpRequest, most: int) -> None:
    if (announced_size(request) or 0) > most:
        raise TooLarge(Message("The body may have at most {most}.", most=bytes_text(most)))
