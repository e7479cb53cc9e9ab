"""REST: storage use of logs, and of everything."""

from __future__ import annotations

from typing import Annotated, TypedDict

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from jobs.api.query import limit_of
from jobs.data import log_storage
from jobs.lists import JOBS
from jobs.selectors import representations
from jobs.selectors.representations import JobShape
from portal.core.shapes import PageShape, PersonShape, Time, whole_page
from workspaces.api.base import OrgView
from workspaces.quotas import space


class KeptLogsShape(TypedDict):
    number: int
    name: str
    team: str
    owner: PersonShape
    state: str
    finished_at: Time | None
    page: str
    bytes: Annotated[int, "of its sealed logs, as storage limits count them"]


class UseShape(TypedDict):
    kind: str
    title: str
    bytes: int
    team: str
    owner: str
    page: str
    detail: str
    reason: Annotated[str, "Why it may be unneeded."]
    step: Annotated[str, "What to do on `page`."]


class TotalShape(TypedDict):
    kind: str
    count: int
    bytes: int


class StorageUseShape(TypedDict):
    totals: list[TotalShape]
    largest: list[UseShape]
    unused: list[UseShape]


class StorageView(OrgView):
    permissions = {"GET": None}

    @extend_schema(
        operation_id="storage_list",
        parameters=[
            OpenApiParameter("team", str, description="Team slugs separated by commas."),
            OpenApiParameter("owner", str, description="An e-mail, or `me`."),
            OpenApiParameter("limit", int, description="1 to 200; default 50."),
        ],
    )
    def get(self, request: Request) -> PageShape[KeptLogsShape]:
        """List the visible jobs with the largest logs. A log counts within a minute of its end."""
        params = request.query_params
        rows = JOBS.narrowed(self.actor, {name: params.get(name, "") for name in ("team", "owner")})
        return whole_page(
            [
                _row(representations.job_row(job), size)
                for size, job in log_storage.largest(rows, limit_of(params.get("limit")))
            ]
        )


class UseView(OrgView):
    permissions = {"GET": None}

    @extend_schema(
        parameters=[
            OpenApiParameter("team", str, description="The slug of a team."),
            OpenApiParameter("limit", int, description="1 to 200; default 50."),
        ],
    )
    def get(self, request: Request) -> StorageUseShape:
        """Say what takes the space, and what nothing refers to, of what you may see."""
        params = request.query_params
        team = self.team(params["team"]) if params.get("team") else None
        asked = space.SpaceQuery(self.actor, self.org.slug, team.id if team else None)
        most = limit_of(params.get("limit"))
        return {
            "totals": [
                {"kind": source.kind, "count": total.number, "bytes": total.bytes}
                for source, total in space.totals(asked)
            ],
            "largest": [_use(*one) for one in space.largest(asked, most)],
            "unused": [_use(*one) for one in space.unused(asked, most)],
        }


def _use(source: space.SpaceSource, use: space.SpaceUse) -> UseShape:
    return {
        "kind": source.kind,
        "title": use.title,
        "bytes": use.bytes,
        "team": use.team,
        "owner": use.owner,
        "page": use.page,
        "detail": str(use.detail),
        "reason": str(use.reason),
        "step": str(use.step),
    }


def _row(job: JobShape, size: int) -> KeptLogsShape:
    return {
        "number": job["number"],
        "name": job["name"],
        "team": job["team"],
        "owner": job["owner"],
        "state": job["state"],
        "finished_at": job["finished_at"],
        "page": job["page"],
        "bytes": size,
    }
