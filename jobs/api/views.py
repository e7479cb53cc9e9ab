"""REST: submit, find and control jobs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import representations, selectors, services
from jobs.api import serializers as s
from jobs.api.cost import cost_of
from jobs.api.image import image_note
from jobs.api.query import limit_of, whole
from jobs.api.reading import fault, read_rerun, read_spec
from jobs.lists import JOBS
from jobs.models import Attempt, Job
from jobs.pricing import price_of
from jobs.scheduling import pending_explanation
from jobs.scheduling.placement import gpu_offers, names_for
from jobs.spec_changes import compare
from portal.api.schema import ROWS
from portal.core.errors import InvalidInput
from portal.core.models import Event
from schedulers.spec import JobSpec, Parsed, SpecErrors, parse_text
from workspaces.access.actors import authorize
from workspaces.access.permissions import Permission
from workspaces.api.base import OrgView, idempotent
from workspaces.api.views import read
from workspaces.credentials.secret_selectors import references_for
from workspaces.models import Team


class JobsView(OrgView):
    permissions = {"GET": None, "POST": None}

    @extend_schema(
        operation_id="jobs_list", parameters=JOBS.parameters(), responses=s.JobSerializer(many=True)
    )
    def get(self, request: Request) -> Response:
        """List visible jobs, newest first, in keyset pages without a total."""
        return Response(JOBS.answer(self.actor, request.query_params))

    @extend_schema(
        request=s.NewJobSerializer,
        responses={200: OpenApiTypes.OBJECT, 201: s.JobSerializer},
        parameters=[
            OpenApiParameter("dry_run", bool, description="Dry run: returns 200 with a Rehearsal.")
        ],
    )
    def post(self, request: Request) -> Response:
        """Submit a job. An accepted job is durable."""
        if request.query_params.get("dry_run", "").lower() in {"1", "true", "yes"}:
            return self._rehearse(request)
        return self._submit(request)

    @idempotent
    def _submit(self, request: Request) -> Response:
        parsed = read_spec(request.data)
        job = services.submit_job(
            actor=self.actor, team=self.team(request.data.get("team")), spec=parsed.spec
        )
        return _created(job)

    def _rehearse(self, request: Request) -> Response:
        parsed = read_spec(request.data)
        result = services.dry_run_job(
            actor=self.actor, team=self.team(request.data.get("team")), spec=parsed.spec
        )
        checks = [{"name": c.name, "ok": c.is_ok, "text": c.text} for c in result.checks]
        return Response(
            {
                "ok": result.is_ok,
                "starts_now": result.starts_now,
                "checks": checks,
                "launch": result.launch,
            }
        )


_NOTHING_VALID: dict[str, Any] = {
    "ok": False,
    "errors": [],
    "notes": [],
    "spec": None,
    "yaml": None,
    "cost": [],
    "price": None,
    "image": None,
    "start": None,
    "changes": None,
}


class ValidateView(OrgView):
    permissions = {"POST": None}

    @extend_schema(request=s.DraftSerializer, responses=s.ValidationSerializer)
    def post(self, request: Request) -> Response:
        """Validate a spec while it is edited; returns 200 even for invalid text."""
        text = request.data.get("yaml")
        if not isinstance(text, str):
            raise InvalidInput.at("yaml", "must be text")
        try:
            parsed = parse_text(text)
        except SpecErrors as error:
            return Response(_NOTHING_VALID | {"errors": [fault(f) for f in error.errors]})
        team = self.team(request.data.get("team")) if request.data.get("team") else None
        return Response(
            {
                "ok": True,
                "errors": [],
                "notes": [fault(n) for n in parsed.notes],
                "spec": parsed.spec.to_mapping(),
                "yaml": parsed.spec.to_yaml(),
                "cost": cost_of(self.actor, team, parsed.spec),
                "price": price_of(self.actor, team, parsed.spec),
                "image": image_note(
                    self.actor, team, parsed.spec, is_settled=request.data.get("settled") is True
                ),
                "start": self._start(team, parsed) if team and self.actor.user_id else None,
                "changes": self._changes(request.data.get("parent"), parsed.spec),
            }
        )

    def _start(self, team: Team, parsed: Parsed) -> dict[str, Any]:
        """Return what a submission would answer, with the line of each error."""
        result = services.check_draft(actor=self.actor, team=team, spec=parsed.spec)
        return {
            "ok": result.is_ok,
            "starts_now": result.starts_now,
            "text": result.start_text,
            "errors": [{**e, "line": parsed.line_of(e["field"])} for e in result.errors],
        }

    def _changes(self, parent: Any, spec: JobSpec) -> list[dict[str, Any]] | None:
        """Return the fields that differ from the job that is run again."""
        if not parent:
            return None
        found = compare(selectors.find_job(self.actor, str(parent)), spec)
        return [{"field": c.field, "before": c.before, "after": c.after} for c in found.changes]


class JobOptionsView(OrgView):
    permissions = {"GET": None}

    @extend_schema(
        operation_id="jobs_options",
        parameters=[OpenApiParameter("team", str, description="The team to submit to.")],
        responses=s.JobOptionsSerializer,
    )
    def get(self, request: Request) -> Response:
        """List what a job of the team may use: GPU types, pools and secrets."""
        team = self.team(request.query_params.get("team"))
        authorize(self.actor, Permission.JOBS_SUBMIT, team)
        return Response(
            {
                "gpu_types": [asdict(offer) for offer in gpu_offers(team)],
                "pools": names_for([team]),
                "secrets": references_for(self.actor, team),
            }
        )


class JobViewBase(OrgView):
    """Base view of one job; a job that the actor may not see is not found."""

    def job(self, name: str) -> Job:
        return selectors.find_job(self.actor, name)


class JobView(JobViewBase):
    permissions = {"GET": None, "PATCH": None}

    @extend_schema(responses=s.JobDetailSerializer)
    def get(self, request: Request, job: str) -> Response:
        """Get one job by number or id."""
        row = self.job(job)
        return Response(representations.job_detail(row) | {"pending": _pending(row, self.actor)})

    @extend_schema(request=s.ChangeJobSerializer, responses=s.JobDetailSerializer)
    def patch(self, request: Request, job: str) -> Response:
        """Change name, labels or priority."""
        row = services.change_job(
            actor=self.actor, job=self.job(job), **read(s.ChangeJobSerializer, request)
        )
        return Response(representations.job_detail(row))


class CancelView(JobViewBase):
    permissions = {"POST": None}

    @extend_schema(request=s.WhySerializer, responses=s.JobDetailSerializer)
    def post(self, request: Request, job: str) -> Response:
        """Cancel the job. Idempotent."""
        row = services.cancel_job(
            actor=self.actor, job=self.job(job), **read(s.WhySerializer, request)
        )
        return Response(representations.job_detail(row))


class HoldView(JobViewBase):
    permissions = {"POST": None}

    @extend_schema(request=None, responses=s.JobDetailSerializer)
    def post(self, request: Request, job: str) -> Response:
        """Hold the job: queued attempts do not start."""
        return Response(
            representations.job_detail(services.hold_job(actor=self.actor, job=self.job(job)))
        )


class ReleaseView(JobViewBase):
    permissions = {"POST": None}

    @extend_schema(request=None, responses=s.JobDetailSerializer)
    def post(self, request: Request, job: str) -> Response:
        """Release a held job."""
        return Response(
            representations.job_detail(services.release_job(actor=self.actor, job=self.job(job)))
        )


class RerunView(JobViewBase):
    permissions = {"POST": None}

    @extend_schema(request=s.RerunSerializer, responses={201: s.JobSerializer})
    @idempotent
    def post(self, request: Request, job: str) -> Response:
        """Submit the job again, with a changed spec or with single fields overridden."""
        row = self.job(job)
        spec = read_rerun(row, request.data)
        return _created(services.rerun_job(actor=self.actor, job=row, spec=spec))


class PendingView(JobViewBase):
    permissions = {"GET": None}

    @extend_schema(responses=s.PendingAnswerSerializer)
    def get(self, request: Request, job: str) -> Response:
        """Explain why the job is pending: reason, numbers, holders, smallest change, history.

        Computed now; `pending` is null if the job is not pending.
        """
        return Response({"pending": _pending(self.job(job), self.actor)})


class AttemptsView(JobViewBase):
    permissions = {"GET": None}

    @extend_schema(
        parameters=[OpenApiParameter("after", int), OpenApiParameter("limit", int)],
        responses={200: ROWS},
    )
    def get(self, request: Request, job: str) -> Response:
        """List every attempt of every task by index and ordinal; pages by `after` (an index)."""
        rows = self.job(job).attempts.order_by("index", "ordinal")
        limit = limit_of(request.query_params.get("limit"), 200, 1000)
        after = request.query_params.get("after", "")
        found, last = _whole_tasks(
            rows.filter(index__gt=whole("after", after)) if after else rows, limit
        )
        return Response(
            {
                "items": [representations.attempt_row(a) for a in found],
                "next": last,
                "previous": None,
            }
        )


class EventsView(JobViewBase):
    permissions = {"GET": None}

    @extend_schema(
        parameters=[OpenApiParameter("after", int), OpenApiParameter("limit", int)],
        responses={200: ROWS},
    )
    def get(self, request: Request, job: str) -> Response:
        """List the events of the job, oldest first; pages by `after` (a position)."""
        rows = Event.objects.filter(subject_id=self.job(job).id).order_by("position")
        limit = limit_of(request.query_params.get("limit"), 200, 1000)
        found = list(
            rows.filter(position__gt=whole("after", request.query_params.get("after") or "0"))[
                :limit
            ]
        )
        facts = [
            {
                "id": e.id,
                "position": e.position,
                "at": e.at,
                "kind": e.kind,
                "actor": e.actor,
                "data": e.data,
            }
            for e in found
        ]
        return Response(
            {
                "items": facts,
                "next": str(found[-1].position) if len(found) == limit else None,
                "previous": None,
            }
        )


def _pending(job: Job, actor: Any) -> dict[str, Any] | None:
    result = pending_explanation.explanation_of(job, actor)
    return (
        None
        if result is None
        else {name: getattr(result, name) for name in result.__dataclass_fields__}
    )


def _whole_tasks(rows: QuerySet[Attempt], limit: int) -> tuple[list[Attempt], str | None]:
    """Return a page that ends with a whole task, and the index after which the next page starts."""
    found = list(rows[:limit])
    if len(found) < limit:
        return found, None
    last = found[-1].index
    found = [attempt for attempt in found if attempt.index != last] or list(rows.filter(index=last))
    return found, str(found[-1].index)


def _created(job: Job) -> Response:
    return Response(representations.new_job(job), status=status.HTTP_201_CREATED)
