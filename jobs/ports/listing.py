"""Represent the ports of a job in the API and on its page."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, TypedDict

from jobs.kinds.workload_kinds import kind_of
from jobs.models import Attempt, Job, PortActivity
from jobs.ports import addresses
from jobs.specs.stored import spec_of
from portal.core import clock
from portal.core.shapes import Time
from portal.gateway.provider import Address
from schedulers.spec import ports_of


class JobPortShape(TypedDict):
    name: str
    port: Annotated[int, "Where the program listens; MUSTER_PORT_NAME has it."]
    protocol: Annotated[str, "http (and websockets), tcp or ssh."]
    access: Annotated[str, "Who may open it: owner or team."]
    url: Annotated[str, "For browsers."]
    program_url: Annotated[
        str, "For programs, which send an access token as `Authorization: Bearer`."
    ]
    last_used_at: Time | None
    open_streams: Annotated[
        int, "Open websockets and forwarded connections, as reported every 10 s."
    ]
    has_answered: Annotated[bool, "Whether the program has answered once."]


_FRESH = timedelta(seconds=45)  # a gateway reports open streams every 10 s


def port_rows(attempt: Attempt, job: Job) -> list[JobPortShape]:
    """Return the ports of an attempt, with their addresses and when they were last used."""
    spec = spec_of(job)
    if not spec.ports:
        return []
    numbers = ports_of(spec, attempt.id)
    used = {row.port: row for row in PortActivity.objects.filter(attempt=attempt)}
    rows: list[JobPortShape] = []
    number = kind_of(job).address_number(job)
    for entry in spec.ports:
        address = Address(job.org.slug, number, entry.name, attempt.index)
        row = used.get(numbers[entry.name])
        is_fresh = row is not None and row.reported_at > clock.now() - _FRESH
        rows.append(
            {
                "name": entry.name,
                "port": numbers[entry.name],
                "protocol": str(entry.protocol),
                "access": str(entry.access),
                "url": addresses.page_of(address),
                "program_url": addresses.program_url(address),
                "last_used_at": row.last_used_at if row else None,
                "open_streams": row.open_streams if row and is_fresh else 0,
                "has_answered": bool(row and row.answered_at),
            }
        )
    return rows
