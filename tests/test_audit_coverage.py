"""Every route that changes data records an event: who, from where, with what, before and after.

Built from the tables of the role matrix, so that a new route without an event fails.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from django.db import connection, transaction

from clusters.models import Cluster, HealthPolicy, Node, NodeHealth, PoolGrant
from datasets.models import FolderInvitation, Import, Repository, Share, SharedFolder, Upload
from experiments.models import Experiment
from jobs import services as jobs
from jobs.models import Attempt, Job
from portal.core import clock, event_texts
from portal.core.models import Event
from registry.models import ModelVersion
from schedulers import backends
from schedulers.contract import Capability
from schedulers.states import State
from tests import matrix
from tests.clusters.conftest import Drainable
from tests.test_permission_matrix import API, PAGES
from tests.test_role_matrix import TABLE, WRITING_PAGES, Stage, refill_workspaces
from tests.test_role_matrix import built as built  # noqa: PLC0414  fixtures
from tests.test_role_matrix import stage as stage  # noqa: PLC0414
from workspaces.access.custom_roles import invalidate
from workspaces.models import Organization, Provider, User
from workspaces.tenancy.scope import org_scope, platform_scope

WRITES = ("POST", "PUT", "PATCH", "DELETE")
# Changes nothing that people or programs decide
SILENT = matrix.entries("SILENT")
SILENT_FORMS = matrix.entries("SILENT_FORMS")
WITHOUT_STATE = {
    "job.submitted",
    "cluster.tested",
    "telemetry_source.tested",
    "telemetry_source.history_asked",
    "job.command_run",
    "job.cancel_asked",
    "notification_channel.tested",
    "notification_channel.redelivered",
    "sign_in.succeeded",
    "token.first_used",
    "audit.verification_asked",
    "provider.test_asked",
    "provider.tested",
    "provider.sync_asked",
    "application.secret_renewed",  # changes only the secret
    *matrix.members("WITHOUT_STATE"),
}
ID = "the-walk-over-all"


def _released(stage: Stage) -> None:
    with org_scope(stage.story.atlas.id):
        jobs.hold_job(actor=stage.story.actor(stage.story.ada), job=Job.objects.get(number=1))


def _running(stage: Stage) -> None:
    with platform_scope("test"):
        Attempt.objects.update(state=State.RUNNING)


def _ended(stage: Stage) -> None:
    with platform_scope("test"):
        Job.objects.update(state=State.SUCCEEDED)


def _unused(stage: Stage) -> None:
    with platform_scope("test"):
        Attempt.objects.all().delete()
        Job.objects.all().delete()


def _required(stage: Stage) -> None:
    Organization.objects.update(requires_second_factor=True)
    User.objects.filter(email="ada@atlas.example").update(has_second_factor=True)


def _ungranted(stage: Stage) -> None:
    with platform_scope("test"):
        PoolGrant.objects.all().delete()


def _scim(stage: Stage) -> None:
    Provider.objects.filter(slug="corp").update(kind="scim")


def _in_trash(stage: Stage) -> None:
    with platform_scope("test"):
        Experiment.objects.update(deleted_at=clock.now())


def _uploading(stage: Stage) -> None:
    with platform_scope("test"):
        ModelVersion.objects.filter(version=1).update(status="PENDING_REGISTRATION")


def _shared(stage: Stage) -> None:
    with platform_scope("test"):
        for row in Repository.objects.filter(name="cifar"):
            Share.objects.create(org_id=row.org_id, repository=row, team=stage.story.speech)


def _invited(stage: Stage) -> None:
    with platform_scope("test"):
        row = SharedFolder.objects.get(name="code")
        for whom in ({"team": stage.story.speech}, {"user": stage.people["ben"]}):
            FolderInvitation.objects.create(org_id=row.org_id, folder=row, **whom)


def _abandoned(stage: Stage) -> None:
    with platform_scope("test"):
        Upload.objects.update(updated_at=clock.now() - timedelta(days=1))


def _canceled(stage: Stage) -> None:
    with platform_scope("test"):
        Import.objects.update(state="canceled")


def _stopped(stage: Stage) -> None:
    HealthPolicy.objects.update_or_create(
        cluster=Cluster.objects.get(name="local"), defaults={"stopped_at": clock.now()}
    )


def _quarantined(stage: Stage) -> None:
    for node in Node.objects.all():
        NodeHealth.objects.update_or_create(node=node, defaults={"state": "quarantined"})
        Node.objects.update(is_drained=True)


BEFORE: dict[tuple[str, str], Callable[[Stage], None]] = {
    ("api-checkpoint-share", "DELETE"): _shared,
    ("api-dataset-share", "DELETE"): _shared,
    ("api-checkpoint-space", "DELETE"): _abandoned,
    ("api-dataset-space", "DELETE"): _abandoned,
    ("api-workspace-person", "DELETE"): _invited,
    ("api-workspace-team", "DELETE"): _invited,
    ("api-checkpoint-import-resume", "POST"): _canceled,
    ("api-dataset-import-resume", "POST"): _canceled,
    ("api-cluster-health-reset", "POST"): _stopped,
    ("api-node-return", "POST"): _quarantined,
    ("api-job-release", "POST"): _released,
    ("api-job-exec", "POST"): _running,
    ("api-job-logs", "DELETE"): _ended,
    ("api-cluster", "DELETE"): _unused,
    ("api-experiment-restore", "POST"): _in_trash,
    ("api-model-finish", "POST"): _uploading,
    ("api-pool-team", "PUT"): _ungranted,
    ("api-provider-scim-token", "POST"): _scim,
    ("api-org", "PATCH"): _required,
    ("org-rules", "POST"): _required,
    **matrix.entries("BEFORE"),
}
FORMS: dict[str, dict[str, Any]] = {name: form for name, (_, form) in WRITING_PAGES.items()} | {
    "tokens": {"name": "mine", "scopes": "jobs:read"},
    "token-revoke": {},
    "token-rotate": {"overlap_hours": "24"},
    "org-rules": {"requires_second_factor": "0"},
    "job-new": {"team": "vision", "yaml": "run: true"},
    "jobs-act": {"verb": "cancel", "job": "1"},
    "clusters": {"kind": "local", "name": "fresh", "anyway": "1"},
    "cluster-edit": {
        "do": "save",
        "anyway": "1",
        "url": "elsewhere",
        "transport": "cli",
        "port": "7000",
    },
    "cluster-node": {"do": "drain", "reason": "fan"},
}
ROWS = [
    (name, verb, path)
    for name, path, view in API
    for verb in sorted(view.permissions)
    if verb in WRITES and (name, verb) not in SILENT
]
FORM_ROWS = [
    (name, path)
    for name, path, view in PAGES
    if "POST" in view.methods and name not in SILENT_FORMS
]


def recorded_events() -> list[Event]:
    return list(
        Event.objects.filter(request_id=ID)
        .exclude(kind__startswith="attempt.")
        .order_by("position")
    )


def test_rest_change_records_an_event(stage, able):
    wrong = []
    for name, verb, path in ROWS:
        row = TABLE[name, verb]
        who = next(name for name in ("ada", "dot", "ben") if name in row.who)
        with _undone():
            BEFORE.get((name, verb), lambda _: None)(stage)
            answer = stage.api(who).generic(
                verb,
                stage.address(path),
                json.dumps(row.body),
                content_type="application/json",
                headers={"X-Request-ID": ID},
                REMOTE_ADDR="198.51.100.7",
            )
            found = (
                [f"{answer.status_code}: {answer.content!r}"] if answer.status_code >= 300 else []
            )
            wrong += [
                f"{verb} {path}: {fault}"
                for fault in found or _faults(stage, who, "token ", recorded_events())
            ]
    assert wrong == []


def test_form_change_records_an_event(stage, able):
    operators = ("application", "cluster", "pool", "installation", "platform", "mig-")
    wrong = []
    for name, path in FORM_ROWS:
        who = (
            "ben"
            if name == "token-rotate"
            else "dot"
            if any(word in name for word in operators)
            else "ada"
        )
        with _undone():
            BEFORE.get((name, "POST"), lambda _: None)(stage)
            browser = stage.story.client(stage.people[who])
            answer = browser.post(
                stage.address(path),
                FORMS[name],
                headers={"X-Request-ID": ID},
                REMOTE_ADDR="198.51.100.7",
            )
            found = [f"{answer.status_code}"] if answer.status_code not in (200, 302) else []
            wrong += [
                f"{name} {path}: {fault}"
                for fault in found or _faults(stage, who, "session", recorded_events())
            ]
    assert wrong == []


@contextmanager
def _undone() -> Iterator[None]:
    refill_workspaces()
    with transaction.atomic():
        yield
        if not connection.needs_rollback:
            connection.check_constraints()
        transaction.set_rollback(True)
    invalidate()


def _faults(stage: Stage, who: str, via: str, facts: list[Event]) -> list[str]:
    """Return what is missing in the events of one request."""
    kinds = [(fact.kind, fact.actor) for fact in facts]
    ours = [
        fact
        for fact in facts
        if fact.actor == stage.people[who].email and fact.kind != "token.first_used"
    ]
    if not ours or "access.denied" in {fact.kind for fact in facts}:
        return [f"recorded is {kinds}"]
    return [
        f"{fact.kind}: {fact.address}, {fact.via}, {fact.data}"
        for fact in ours
        if fact.address != "198.51.100.7"
        or not fact.via.startswith(via)
        or not (fact.kind in WITHOUT_STATE or {"before", "after"} & set(fact.data))
        or fact.kind not in event_texts.kinds()
    ]


def test_event_check_covers_routes_of_every_app():
    assert {"api-teams", "api-job", "api-cluster", "api-tokens"} <= {name for name, _, _ in ROWS}
    assert set(SILENT) <= set(TABLE)


class Able(Drainable):
    """A backend that accepts everything; the local backend supports no draining."""

    name: ClassVar[str] = "able"
    capabilities = frozenset({Capability.DRAIN, Capability.EXEC, Capability.ENDPOINTS})

    def exec(self, key: str, argv: list[str], timeout: float) -> tuple[int, bytes]:
        return 0, b""


@pytest.fixture
def able(stage, monkeypatch):
    monkeypatch.setitem(backends(), "able", Able)
    Cluster.objects.filter(name="local").update(backend="able", config={"url": "u"})
