"""The routes of Xet that clients upload by. They read files by HTTP instead."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from datasets.hub.requests import actor_of, answer_json, hub_view
from datasets.models import Repository
from datasets.selectors import visible_repositories
from datasets.xet import shards, xorbs
from datasets.xet.store import offer, put_xorb, register_shard
from portal.core.errors import NotFound, TooLarge
from portal.core.formatting import bytes_text
from portal.core.messages import Message
from portal.web.transfers import announced_size, body_chunks


@hub_view("GET")
def chunk(request: HttpRequest, repository: UUID, prefix: str, chunk: str) -> HttpResponse:
    """Return a shard with xorbs that have a chunk, so that a client need not send it again."""
    return HttpResponse(
        offer(_repository(request, repository), chunk), content_type="application/octet-stream"
    )


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


def _repository(request: HttpRequest, pk: UUID) -> Repository:
    row = visible_repositories(actor_of(request)).filter(id=pk).first()
    if row is None:
        raise NotFound(Message("There is no such repository."), code="no_repository")
    return row


def _check_size(request: HttpRequest, most: int) -> None:
    if (announced_size(request) or 0) > most:
        raise TooLarge(Message("The body may have at most {most}.", most=bytes_text(most)))
