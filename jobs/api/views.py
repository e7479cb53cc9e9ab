"""REST: submit, find and control jobs."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import services
from jobs.api import serializers as s
from jobs.api.cost import CostShape, cost_of
from jobs.api.image import ImageNoteShape, image_note
from jobs.api.query import limit_of, whole
from jobs.api.reading import SpecFaultShape, fault, read_rerun, read_spec
from jobs.lists import JOBS
from jobs.models import Attempt, Job
from jobs.quotas.pricing import price_of
from jobs.scheduling import pending_explanation
from jobs.scheduling.advice import ExpectedStartShape, SuggestionShape
from jobs.scheduling.expected_start import expected_start_of
from jobs.scheduling.pending_summary import PendingShape
from jobs.scheduling.placement import GpuOfferShape, gpu_offers, names_for
from jobs.selectors import representations
from jobs.selectors.jobs import find_job
from jobs.selectors.representations import AttemptShape, JobDetailShape, JobShape, NewJobShape
from jobs.services.suggestions import draft_suggestions, suggestions_of
from jobs.specs.changes import compare
from portal.core.errors import InvalidInput
from portal.core.event_texts import event_text
from portal.core.models import Event
from portal.core.shapes import Id, PageShape, Time
from schedulers.spec import JobSpec, Parsed, SpecErrors, parse_text
from workspaces.access.actors import authorize
from workspaces.access.permissions import Permission
from workspaces.api.base import OrgView, idempotent
from workspaces.api.views import read
from workspaces.credentials.secret_selectors import references_for
from workspaces.models import Team


class CheckShape(TypedDict):
    name: str
    ok: Annotated[bool | None, "null: an earlier failure prevented it."]
    text: str


class RehearsalShape(TypedDict):
    ok: Annotated[bool, "The job would be accepted."]
    starts_now: bool
    checks: list[CheckShape]
    launch: Annotated[str, "What would be sent to the backend."]
    expected_start: Annotated[ExpectedStartShape | None, "null unless the job would wait."]
    suggestions: list[SuggestionShape]


class StartShape(TypedDict):
    ok: bool
    starts_now: bool
    text: str
    errors: list[SpecFaultShape]
    expected: Annotated[ExpectedStartShape | None, "null unless the job would wait."]
    suggestions: Annotated[
        list[SuggestionShape],
        "What helps a draft that is refused or would wait; the dry run accepts each change.",
    ]


class SpecChangeShape(TypedDict):
    field: str
    before: Any
    after: Any


class ValidationShape(TypedDict):
    ok: bool
    errors: list[SpecFaultShape]
    notes: list[SpecFaultShape]
    spec: dict[str, Any] | None
    yaml: str | None
    cost: Annotated[list[CostShape], "What one task would use, with current usage and limits."]
    price: Annotated[
        dict[str, Any] | None,
        "Money for all tasks: hourly, and most until the time limit; null without prices.",
    ]
    image: Annotated[
        ImageNoteShape | None,
        "Whether the image fits the nodes: ok, doubtful, text; ok null and text empty: not known "
        "yet. Its registry is asked only if `settled` was true, in the background: ask again.",
    ]
    start: Annotated[
        StartShape | None,
        "What a submission by the team would answer: ok, starts_now, text, errors with field, "
        "message and line, the expected start and suggestions; null without a team.",
    ]
    changes: Annotated[
        list[SpecChangeShape] | None,
        "What differs from the spec of `parent`: field, before, after.",
    ]


class JobOptionsShape(TypedDict):
    gpu_types: list[GpuOfferShape]
    pools: Annotated[list[str], "Values of policy.pool; empty without a choice."]
    secrets: Annotated[list[str], "References for `secrets`, never values."]


class PendingAnswerShape(TypedDict):
    pending: PendingShape | None


class EventShape(TypedDict):
    id: Id
    position: int
    at: Time
    kind: str
    text: Annotated[str, "The event as a sentence."]
    actor: str
    data: dict[str, Any]


class JobsView(OrgView):
    permissions = {"GET": None, "POST": None}

    @extend_schema(operation_id="jobs_list", parameters=JOBS.parameters())
    def get(self, request: Request) -> PageShape[JobShape]:
        """List visible jobs, newest first, in keyset pages without a total."""
        return JOBS.answer(self.actor, request.query_params)

    @extend_schema(
        request=s.NewJobSerializer,
        responses={200: RehearsalShape, 201: NewJobShape},
        parameters=[
            OpenApiParameter("dry_run", bool, description="Dry run: returns 200 with a Rehearsal.")
        ],
    )
    def post(self, request: Request) -> Response:
        """Submit a job. An accepted job is durable."""
        if request.query_params.get("dry_run", "").lower() in {"1", "true", "yes"}:
            return Response(self._rehearse(request))
        return self._submit(request)

    @idempotent
    def _submit(self, request: Request) -> Response:
        parsed = read_spec(request.data)
        job = services.submit_job(
            actor=self.actor, team=self.team(request.data.get("team")), spec=parsed.spec
        )
        return _created(job)

    def _rehearse(self, request: Request) -> RehearsalShape:
        parsed, team = read_spec(request.data), self.team(request.data.get("team"))
        result = services.dry_run_job(actor=self.actor, team=team, spec=parsed.spec)
        return {
            "ok": result.is_ok,
            "starts_now": result.starts_now,
            "checks": [{"name": c.name, "ok": c.is_ok, "text": c.text} for c in result.checks],
            "launch": result.launch,
            "expected_start": result.expected.as_dict() if result.expected else None,
            "suggestions": draft_suggestions(self.actor, team, parsed.spec, result),
        }


_NOTHING_VALID: ValidationShape = {
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

    @extend_schema(request=s.DraftSerializer)
    def post(self, request: Request) -> ValidationShape:
        """Validate a spec while it is edited; returns 200 even for invalid text."""
        text = request.data.get("yaml")
        if not isinstance(text, str):
            raise InvalidInput.at("yaml", "must be text")
        try:
            parsed = parse_text(text)
        except SpecErrors as error:
            return {**_NOTHING_VALID, "errors": [fault(f) for f in error.errors]}
        team = self.team(request.data.get("team")) if request.data.get("team") else None
        return {
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

    def _start(self, team: Team, parsed: Parsed) -> StartShape:
        """Return what a submission would answer, with the line of each error."""
        spec = parsed.spec
        result = services.check_draft(actor=self.actor, team=team, spec=spec, is_forecast=True)
        return {
            "ok": result.is_ok,
            "starts_now": result.starts_now,
            "text": result.start_text,
            "errors": [
                {"field": e["field"], "message": e["message"], "line": parsed.line_of(e["field"])}
                for e in result.errors
            ],
            "expected": result.expected.as_dict() if result.expected else None,
            "suggestions": draft_suggestions(self.actor, team, spec, result),
        }

    def _changes(self, parent: Any, spec: JobSpec) -> list[SpecChangeShape] | None:
        """Return the fields that differ from the job that is run again."""
        if not parent:
            return None
        found = compare(find_job(self.actor, str(parent)), spec)
        return [{"field": c.field, "before": c.before, "after": c.after} for c in found.changes]


class JobOptionsView(OrgView):
    permissions = {"GET": None}

    @extend_schema(
        operation_id="jobs_options",
        parameters=[OpenApiParameter("team", str, description="The team to submit to.")],
    )
    def get(self, request: Request) -> JobOptionsShape:
        """List what a job of the team may use: GPU types, pools and secrets."""
        team = self.team(request.query_params.get("team"))
        authorize(self.actor, Permission.JOBS_SUBMIT, team)
        return {
            "gpu_types": gpu_offers(team),
            "pools": names_for([team]),
            "secrets": references_for(self.actor, team),
        }


class JobViewBase(OrgView):
    """Base view of one job; a job that the actor may not see is not found."""

    def job(self, name: str) -> Job:
        return find_job(self.actor, name)


class JobView(JobViewBase):
    permissions = {"GET": None, "PATCH": None}

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "advice",
                bool,
                description="Also say when it is expected to start, and what would help.",
            )
        ]
    )
    def get(self, request: Request, job: str) -> JobDetailShape:
        """Get one job by number or id."""
        row = self.job(job)
        pending = pending_explanation.explanation_of(row, self.actor)
        found: JobDetailShape = {
            **representations.job_detail(row),
            "pending": pending.as_dict() if pending else None,
        }
        if request.query_params.get("advice", "").lower() in {"1", "true", "yes"}:
            start = expected_start_of(row)
            found["expected_start"] = start.as_dict() if start else None
            found["suggestions"] = suggestions_of(self.actor, row, pending)
        return found

    @extend_schema(request=s.ChangeJobSerializer)
    def patch(self, request: Request, job: str) -> JobDetailShape:
        """Change name, labels or priority."""
        row = services.change_job(
            actor=self.actor, job=self.job(job), **read(s.ChangeJobSerializer, request)
        )
        return representations.job_detail(row)


class CancelView(JobViewBase):
    permissions = {"POST": None}

    @extend_schema(request=s.WhySerializer)
    def post(self, request: Request, job: str) -> JobDetailShape:
        """Cancel the job. Idempotent."""
        row = services.cancel_job(
            actor=self.actor, job=self.job(job), **read(s.WhySerializer, request)
        )
        return representations.job_detail(row)


class HoldView(JobViewBase):
    permissions = {"POST": None}

    @extend_schema(request=None)
    def post(self, request: Request, job: str) -> JobDetailShape:
        """Hold the job: queued attempts do not start."""
        row = services.hold_job(actor=self.actor, job=self.job(job))
        return representations.job_detail(row)


class ReleaseView(JobViewBase):
    permissions = {"POST": None}

    @extend_schema(request=None)
    def post(self, request: Request, job: str) -> JobDetailShape:
        """Release a held job."""
        row = services.release_job(actor=self.actor, job=self.job(job))
        return representations.job_detail(row)


class RerunView(JobViewBase):
    permissions = {"POST": None}

    @extend_schema(request=s.RerunSerializer, responses={201: NewJobShape})
    @idempotent
    def post(self, request: Request, job: str) -> Response:
        """Submit the job again, with a changed spec or with single fields overridden."""
        row = self.job(job)
        spec = read_rerun(row, request.data)
        return _created(services.rerun_job(actor=self.actor, job=row, spec=spec))


class PendingView(JobViewBase):
    permissions = {"GET": None}

    def get(self, request: Request, job: str) -> PendingAnswerShape:
        """Explain why the job is pending: reason, numbers, holders, smallest change, history.

        Computed now; `pending` is null if the job is not pending.
        """
        return {"pending": _pending(self.job(job), self.actor)}


class AttemptsView(JobViewBase):
    permissions = {"GET": None}

    @extend_schema(parameters=[OpenApiParameter("after", int), OpenApiParameter("limit", int)])
    def get(self, request: Request, job: str) -> PageShape[AttemptShape]:
        """List every attempt of every task by index and ordinal; pages by `after` (an index)."""
        rows = self.job(job).attempts.order_by("index", "ordinal")
        limit = limit_of(request.query_params.get("limit"), 200, 1000)
        after = request.query_params.get("after", "")
        found, last = _whole_tasks(
            rows.filter(index__gt=whole("after", after)) if after else rows, limit
        )
        return {
            "items": [representations.attempt_row(a) for a in found],
            "next": last,
            "previous": None,
        }


class EventsView(JobViewBase):
    permissions = {"GET": None}

    @extend_schema(parameters=[OpenApiParameter("after", int), OpenApiParameter("limit", int)])
    def get(self, request: Request, job: str) -> PageShape[EventShape]:
        """List the events of the job, oldest first; pages by `after` (a position)."""
        rows = Event.objects.filter(subject_id=self.job(job).id).order_by("position")
        limit = limit_of(request.query_params.get("limit"), 200, 1000)
        found = list(
            rows.filter(position__gt=whole("after", request.query_params.get("after") or "0"))[
                :limit
            ]
        )
        facts: list[EventShape] = [
            {
                "id": e.id,
                "position": e.position,
                "at": e.at,
                "kind": e.kind,
                "text": event_text(e),
                "actor": e.actor,
                "data": e.data,
            }
            for e in found
        ]
        return {
            "items": facts,
            "next": str(found[-1].position) if len(found) == limit else None,
            "previous": None,
        }


def _pending(job: Job, actor: Any) -> PendingShape | None:
    result = pending_explanation.explanation_of(job, actor)
    return None if result is None else result.as_dict()


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
