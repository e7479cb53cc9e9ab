"""Check every REST route and method for every role, and the single scope that a token needs.

test_permission_matrix.py checks what holds for all routes alike. Here each route has a row, in
tests/APP/matrix.py; a missing row fails.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.test import Client

from billing.models import Budget, Price
from clusters.models import Device, MigPlan, Node, Pool, PoolGrant, PoolRequest
from datasets import services as dataset_services
from datasets.folders import entries
from datasets.folders import services as folders
from datasets.models import FolderUpload, Import, Ref, Repository, SharedFolder, Upload
from experiments import artifacts
from experiments import services as experiment_services
from experiments.models import Run
from jobs import services as job_services
from jobs.models import IdleRule
from monitoring.models import TelemetrySource
from notifications.models import Channel, Delivery
from portal.blobs.folders import root_folder
from portal.blobs.store import file_store
from portal.core import clock, vault
from portal.core.audit.canonical import NO_ORG
from portal.core.audit.models import AuditForward
from registry import services as model_services
from registry.models import RegisteredModel
from registry.services.versions import About
from schedulers.spec import parse_mapping
from tests import matrix
from tests.clusters.matrix import LATER
from tests.jobs.stage import cluster_with
from tests.matrix import (
    EVERYBODY,
    FORWARD,
    Row,
)
from tests.monitoring.matrix import SOURCE
from tests.rig.seeds import WALKS, choose
from tests.story import Story
from tests.test_permission_matrix import API, PAGES, VALUES
from tests.workspaces.matrix import LDAP
from workspaces.access import services as access_services
from workspaces.access.permissions import all_permissions
from workspaces.credentials import secrets, service_accounts
from workspaces.credentials import tokens as tokens_services
from workspaces.identity.oidc_provider.applications import create_application
from workspaces.models import (
    AccessToken,
    DirectoryRun,
    Provider,
    ProviderTest,
    QuotaRequest,
    ScimToken,
    User,
)
from workspaces.organizations import invitations
from workspaces.organizations import services as organization_services
from workspaces.quotas import set_limits
from workspaces.tenancy.scope import org_scope, platform_scope

REFUSED = (403, 404)
PLATFORM_FORWARD = FORWARD.replace("0011", "0012")
TABLE: dict[tuple[str, str], Row] = matrix.entries("ROWS")
WRITING_PAGES = matrix.entries("FORMS")


@dataclass
class Stage:
    """The people, and Ben's job #1 and token, to which the rows refer."""

    story: Story
    people: dict[str, User]
    token_id: str = ""
    invitation_id: str = ""
    tokens: dict[str, str] = field(default_factory=dict)  # of everybody, with all scopes

    def api(self, name: str, *scopes: str) -> Client:
        if scopes:
            return self.story.api(self.people[name], self.story.atlas, scopes=scopes)
        return Client(headers={"Authorization": f"Bearer {self.tokens[name]}"})

    def address(self, path: str) -> str:
        path = path.replace("00000000-0000-7000-8000-000000000000", self.token_id).replace(
            "/n1", "/n0"
        )
        path = path.replace("00000000-0000-7000-8000-000000000001", self.invitation_id)
        if "/checkpoints" in path:
            path = path.replace(VALUES["trashed"], _of_checkpoint("trashed"))
            path = path.replace(VALUES["upload"], _of_checkpoint("upload"))
            path = path.replace(VALUES["imported"], _of_checkpoint("imported"))
        path = path.replace("00000000-0000-7000-8000-000000000004", str(self.people["eve"].id))
        return path.replace(FORWARD, PLATFORM_FORWARD) if "/v1/audit/" in path else path


@pytest.fixture(scope="module")
def built(shared_story) -> Stage:
    """Create the data once, because there are hundreds of rows."""
    story = shared_story
    people = {name: getattr(story, name) for name in ("ada", "ben", "dot")}
    with org_scope(story.atlas.id):
        ada = story.actor(story.ada)
        for name, org_role, team, role in (
            ("amy", "admin", None, ""),
            ("lee", "member", story.vision, "lead"),
            ("vis", "member", story.vision, "viewer"),
            ("vic", "viewer", None, ""),
            ("eve", "member", story.speech, "member"),
            ("uma", "user-admin", None, ""),
            ("bea", "billing-viewer", None, ""),
        ):
            people[name] = organization_services.add_member(
                actor=ada, org=story.atlas, email=f"{name}@atlas.example", role=org_role
            ).user
            if team:
                organization_services.add_team_member(
                    actor=ada, team=team, email=f"{name}@atlas.example", role=role
                )
        pool = Pool.objects.create(name="main", cluster=cluster_with(), is_open=True)
        node = Node.objects.get(name="n0")
        Device.objects.create(
            node=node, index=0, uuid=VALUES["uuid"], model="NVIDIA H100 80GB HBM3", memory=80 << 30
        )
        TelemetrySource.objects.create(
            name="metrics", cluster=node.cluster, kind="prometheus", urls=SOURCE["urls"]
        )
        MigPlan.objects.create(
            id=VALUES["plan"], cluster=node.cluster, wish={"1g.10gb": 1}, created_by="dot"
        )
        PoolGrant.objects.create(org=story.atlas, pool=pool, team=story.vision)
        IdleRule.objects.create(pool=pool, changed_by="dot@platform.example")
        Channel.objects.create(
            id=VALUES["channel"],
            org=story.atlas,
            user=story.ada,
            kind="webhook",
            name="hook",
            host="hooks.example.org",
            url=vault.encrypt(b"https://hooks.example.org/in", "notification channels"),
        )
        Delivery.objects.create(
            id=VALUES["delivery"],
            org=story.atlas,
            channel_id=VALUES["channel"],
            event_id=VALUES["channel"],
            kind="job_failed",
            title="#1 failed",
            path="/atlas/jobs/1",
            state="sent",
        )
        PoolRequest.objects.create(
            id=VALUES["ask"],
            org=story.atlas,
            team=story.vision,
            asker=story.ben,
            gpu_type="mig-1g.10gb",
            gpus=1,
            **LATER,
        )
        Price.objects.create(
            id=VALUES["price"],
            currency="USD",
            resource="memory",
            starts_on="2026-01-01",
            amount="0.001",
        )
        Budget.objects.create(org=story.atlas, amount="1000")
        access_services.create_role(
            actor=ada, org=story.atlas, slug="trainer", kind="team", permissions=["teams:read"]
        )
        for pk, chain in ((FORWARD, story.atlas.id), (PLATFORM_FORWARD, NO_ORG)):
            AuditForward.objects.create(
                id=pk,
                chain=chain,
                target="syslog+tls://old.example:6514",
                created_by="ada@atlas.example",
            )
        ben = story.actor(story.ben)
        job_services.submit_job(actor=ben, team=story.vision, spec=parse_mapping({"run": "true"}))
        experiment = experiment_services.create_experiment(
            actor=ben, team=story.vision, name="first"
        )
        run = Run.objects.create(
            id=VALUES["run"],
            org=story.atlas,
            team=story.vision,
            owner=story.ben,
            experiment=experiment,
            name="first",
            started_ms=1,
            series_owner="run:first",
        )
        artifacts.put(ben, run, "x", [b"bytes"])
        _add_models(story)
        _add_repositories(story)
        _add_workspaces(story)
        for add in matrix.builders():
            add(story)
        for value in ("first", "second"):
            secrets.set_secret(
                actor=ada, org=story.atlas, team=story.vision, name="wandb", value=value
            )
        set_limits.set_quota(
            actor=ada, org=story.atlas, scope="team", subject="vision", resource="jobs", limit=1000
        )
        ada_asks = {
            "asker": story.ada,
            "scope": "team",
            "subject_id": story.speech.id,
            "subject": "speech",
            "resource": "gpu",
            "amount": 9,
        }
        QuotaRequest.objects.create(
            id="00000000-0000-7000-8000-000000000021", org=story.atlas, **ada_asks
        )
        service_accounts.create_service_account(actor=ada, org=story.atlas, name="nightly")
        invited = invitations.invite(actor=ada, org=story.atlas, email="ina@atlas.example")
        corp = Provider.objects.create(
            org=story.atlas, kind="ldap", slug="corp", name="Corp", config=LDAP
        )
        DirectoryRun.objects.create(id=VALUES["run"], provider=corp, outcome="failed")
        ProviderTest.objects.create(
            id=VALUES["test"],
            org=story.atlas,
            provider=corp,
            kind="ldap",
            actor=ada.email,
            ended_at=clock.now(),
        )
        ScimToken.objects.create(provider=corp, digest="0", hint="mst_0000")
        made = tokens_services.create_token(actor=ben, org=story.atlas, name="bens", scopes=["all"])
        create_application(
            actor=story.actor(story.dot, story.atlas),
            client_id="grafana",
            name="",
            addresses=["https://grafana.example/login"],
        )
    tokens = {name: story.token(person, story.atlas) for name, person in people.items()}
    return Stage(story, people, str(made.row.id), str(invited.row.id), tokens)


def _add_models(story: Story) -> None:
    """Create a model with two versions, and one in the trash."""
    ben = story.actor(story.ben)
    for name in ("digits", "trashed"):
        row = model_services.create_model(
            actor=ben, team=story.vision, name=name, description="A card."
        )
        if name == "trashed":
            model_services.delete_model(actor=ben, model=row)
            RegisteredModel.objects.filter(id=row.id).update(id=VALUES["trashed"])
            continue
        for _ in range(2):
            version = model_services.start_upload(actor=ben, model=row, about=About())
            model_services.put_file(actor=ben, version=version, path="x", chunks=[b"bytes"])
            version = model_services.finish_upload(actor=ben, version=version)
        model_services.set_alias(actor=ben, version=version, alias="champion")


def _of_checkpoint(name: str) -> str:
    return VALUES[name].replace("-0000000000", "-0000000001")


def _add_repositories(story: Story) -> None:
    """Create a dataset and a checkpoint, each with two versions, and one in the trash."""
    ben = story.actor(story.ben)
    for kind in ("dataset", "checkpoint"):
        given = VALUES if kind == "dataset" else {n: _of_checkpoint(n) for n in VALUES}
        made = {"actor": ben, "team": story.vision, "kind": kind}
        trashed = dataset_services.create_repository(name="trashed", **made)
        dataset_services.delete_repository(actor=ben, repository=trashed)
        Ref.objects.filter(repository=trashed).delete()
        Repository.objects.filter(id=trashed.id).update(id=given["trashed"])
        row = dataset_services.create_repository(name="cifar", **made)
        for data in (b"1", b"2"):
            stored = dataset_services.put_file(actor=ben, repository=row, chunks=[data])
            changes = [dataset_services.Add("x", stored.sha256)]
            version = dataset_services.commit(
                actor=ben, repository=row, changes=changes, message=""
            )
        dataset_services.set_tag(actor=ben, repository=row, name="v1", version=version)
        dataset_services.create_branch(actor=ben, repository=row, name="try", version=version)
        upload = dataset_services.start_upload(actor=ben, repository=row, size=1)
        Upload.objects.filter(id=upload.id).update(id=given["upload"])
        file_store().start(row.org_id, UUID(given["upload"]))
        imported = dataset_services.start_import(
            actor=ben, repository=row, source="https://example.org/a"
        )
        Import.objects.filter(id=imported.id).update(id=given["imported"])


def _add_workspaces(story: Story) -> None:
    """Create a workspace with a file and an upload, and one in the trash."""
    ben = story.actor(story.ben)
    trashed = folders.create_folder(actor=ben, team=story.vision, name="trashed")
    folders.delete_folder(actor=ben, folder=trashed)
    SharedFolder.objects.filter(id=trashed.id).update(id=VALUES["trashed"])
    row = folders.create_folder(actor=ben, team=story.vision, name="code")
    upload = entries.start_upload(actor=ben, folder=row, path="z", size=1)
    FolderUpload.objects.filter(id=upload.id).update(id=VALUES["upload"])
    refill_workspaces()


@pytest.fixture
def stage(built, undone) -> Stage:
    return built


def refill_workspaces() -> None:
    """Restore the files of workspaces, which no rollback does: a file x, and a started upload."""
    for folder in root_folder().glob("*/*"):
        if folder.name == ".incoming":
            (folder / UUID(VALUES["upload"]).hex).write_bytes(b"")
        else:
            (folder / "x").write_bytes(b"1")
            (folder / "y").unlink(missing_ok=True)


def tried(client: Client, verb: str, path: str, body: dict[str, Any]) -> int:
    """Return the status code, and roll back the changes."""
    if "/workspaces" in path:
        refill_workspaces()
    with transaction.atomic():
        code = client.generic(
            verb, path, json.dumps(body), content_type="application/json"
        ).status_code
        transaction.set_rollback(True)
    return code


def test_role_matrix_covers_every_route_and_verb():
    assert {(name, verb) for name, _, view in API for verb in view.permissions} == set(TABLE)


ROWS = [(name, verb, path) for name, path, view in API for verb in sorted(view.permissions)]


def _people(case: str, who_may: frozenset[str], *, is_whole: bool) -> list[str]:
    """Return everybody, or in the gate one person who may and one who may not."""
    if is_whole:
        return sorted(EVERYBODY)
    return [*choose(EVERYBODY & who_may, case), *choose(EVERYBODY - who_may, case)]


@WALKS
def test_role_matrix_matches_actual_access(stage, is_whole):
    clients = {who: stage.api(who) for who in sorted(EVERYBODY)}
    wrong = []
    for name, verb, path in ROWS:
        row = TABLE[name, verb]
        path = stage.address(path) + {
            "api-job-log-search": "?q=x",
            "api-lineage": "?of=dataset:cifar",
            "api-access": "?permission=jobs:read",
            "api-jobs-options": "?team=vision",
        }.get(name, "")
        some = _people(f"{verb} {name}", row.who, is_whole=is_whole)
        found = {who: tried(clients[who], verb, path, row.body) for who in some}
        for who, code in found.items():
            is_through, is_right = code not in REFUSED, code < 300 or code in (400, 409, *REFUSED)
            if is_through != (who in row.who) or not is_right:
                wrong.append(f"{verb} {path} by {who}: {code}")
    assert wrong == []


@WALKS
def test_token_needs_exactly_the_listed_scope(stage, is_whole):
    wrong = []
    for name, verb, path in ROWS:
        row = TABLE[name, verb]
        if row.scope is None:
            continue
        path = stage.address(path) + {
            "api-job-log-search": "?q=x",
            "api-lineage": "?of=dataset:cifar",
            "api-jobs-options": "?team=vision",
        }.get(name, "")
        who = "ben" if "ben" in row.who else "ada" if "ada" in row.who else "dot"
        others = [str(p) for p in all_permissions() if p != row.scope]
        enough = {str(row.scope)} | (
            {"jobs:read"}
            if name.startswith("api-job-")
            or name in {"api-job", "api-pool-request", "api-approval"}
            else set()
        )
        enough |= {"experiments:read"} if name.startswith(("api-run", "api-experiment")) else set()
        enough |= {"models:read"} if name.startswith("api-model") else set()
        is_repository = name.startswith(("api-dataset", "api-checkpoint", "api-workspace"))
        enough |= {"datasets:read"} if is_repository else set()
        enough |= {
            str(scope)
            for start, scope in matrix.entries("SCOPES").items()
            if name.startswith(start)
        }
        enough = (
            {"all"} if name == "api-token-rotate" else enough
        )  # rotating a token returns all of its permissions
        ways = ("without", "with")  # one of them in the gate
        tried_ways = ways if is_whole else choose(ways, verb, name)
        if (
            "without" in tried_ways
            and (code := tried(stage.api(who, *others), verb, path, row.body)) not in REFUSED
        ):
            wrong.append(f"{verb} {path} with all scopes but {row.scope}: {code}")
        if not row.who or "with" not in tried_ways:  # only the token of a job
            continue
        if (code := tried(stage.api(who, *sorted(enough)), verb, path, row.body)) in REFUSED:
            wrong.append(f"{verb} {path} with {row.scope}: {code}")
    assert wrong == []


def test_list_for_token_without_scope_is_empty(stage):
    names = ("jobs", "experiments", "runs", "models", "models-trash", "datasets", "checkpoints")
    names += ("workspaces",)
    for name in names:
        answer = stage.api("ada", "teams:read").get(f"/api/v1/orgs/atlas/{name}")
        assert answer.json()["items"] == []


@WALKS
def test_page_forms_change_data_only_for_permitted_roles(stage, is_whole):
    browser, wrong = Client(), []
    rows = [(name, path) for name, path, _ in PAGES if name in WRITING_PAGES]
    for name, path in rows:
        who_may, form = WRITING_PAGES[name]
        for who in _people(name, who_may, is_whole=is_whole):
            is_changed = _changes(browser, stage.people[who], stage.address(path), form)
            if is_changed != (who in who_may):
                wrong.append(f"{name} {path} by {who}: {'changed' if is_changed else 'refused'}")
    assert wrong == []


def _changes(browser: Client, person: User, path: str, form: dict[str, str]) -> bool:
    """Return whether sending the form recorded an event, as every change does."""
    from portal.core.models import Event

    changes = Event.objects.exclude(kind="access.denied")
    with transaction.atomic():
        refill_workspaces()
        browser.cookies.clear()
        browser.force_login(person)
        before = changes.count()
        browser.post(path, form)
        is_changed = changes.count() > before
        transaction.set_rollback(True)
    return is_changed


def test_job_pages_are_404_for_members_of_other_teams(stage):
    for who, code in (("eve", 404), ("vis", 200), ("vic", 200), ("ben", 200)):
        assert stage.story.client(stage.people[who]).get("/atlas/jobs/1").status_code == code


def test_node_page_shows_only_visible_jobs(stage):
    from jobs.models import Attempt
    from schedulers.states import State

    with platform_scope("test"):
        Attempt.objects.filter(job__number=1).update(
            state=State.RUNNING,
            node="n0",
            has_reservation=True,
            placement={"node": "n0", "cpus": 1000, "memory": 0, "gpus": [], "uuids": []},
        )
    for who, numbers in (("ben", [1]), ("vic", [1]), ("eve", [])):
        node = stage.api(who).get("/api/v1/orgs/atlas/nodes/n0").json()
        assert [job["number"] for job in node["jobs"]] == numbers
        assert node["cpus"]["held"] == 1
        [row] = stage.api(who).get("/api/v1/orgs/atlas/nodes").json()["items"]
        assert [job["number"] for job in row["jobs"]] == numbers


def test_revoked_token_and_role_apply_to_the_next_request(stage):
    api = stage.api("vis")
    assert api.get("/api/v1/orgs/atlas/jobs/1").status_code == 200
    with org_scope(stage.story.atlas.id):
        actor = stage.story.actor(stage.story.ada)
        organization_services.remove_team_member(
            actor=actor, team=stage.story.vision, email="vis@atlas.example"
        )
    assert api.get("/api/v1/orgs/atlas/jobs/1").status_code == 404
    with platform_scope("test"):
        row = AccessToken.objects.get(user=stage.people["vis"])
        tokens_services.revoke_token(actor=stage.story.actor(stage.people["vis"]), token_id=row.id)
    assert api.get("/api/v1/me").status_code == 401
