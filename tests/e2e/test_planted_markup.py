"""Test that markup in any stored text becomes no element, on all pages, in a real browser.

Every text that a person, a directory or a scheduler can write contains markup. A text column in
neither list below fails the test until it is classified.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urldefrag, urlsplit

import httpx
import pytest
from django.apps import apps
from django.db import models
from playwright.sync_api import Browser, Page

from tests.look.conftest import watch
from tests.rig.portal import EMAIL, PASSWORD, Portal
from tests.rig.processes import Folder, wait_until

TAG = "b-ad"
MARK = f"'\"><{TAG} a={{{{7*7}}}}><img src=x onerror=x()>"
OURS = ("workspaces", "clusters", "jobs", "core", "experiments", "registry", "series")
FREE = {
    "name",
    "cluster",
    "note",
    "text",
    "evidence",
    "made_by",
    "trouble",
    "message",
    "via",
    "agent",
    "group",
    "place_why",
    "origin_label",
    "cancel_why",
    "actor",
    "cancel_asked_by",
    "log_delete_asked_by",
    "login",
    "version",
    "model",
    "labels",
    "lines",
    "wait_facts",
    "facts",
    "data",
    "first_name",
    "last_name",
    "created_by",
    "on_behalf_of",
    "why",
    "suspended_why",
    "word",
    "decided_by",
    "description",
    "tags",
    "params",
    "inputs",
    "outputs",
    "metrics",
    "metadata",
    "assessments",
    "spans",
    "path",
    "request_preview",
    "response_preview",
    "client_request_id",
    "model_type",
    "source",
    "signature",
    "inspection",
    "status_message",
    "acknowledged_by",
    "purpose",
    "changed_by",
    "error",
    "exempt",
    "kept_by",
    "started_by",
}
MACHINE = {  # written by Muster only: digests, states, keys, numbers, addresses; and names that are part of URLs
    "origin_kind",
    "action",
    "avoid",
    "blocked",
    "check_code",
    "checks",
    "method",
    "metric",
    "missing",
    "only_nodes",
    "stopped_for",
    "wish",
    "page",
    "panels",
    "digest",
    "commit",
    "driver",
    "mig",
    "pci",
    "serial",
    "repository",
    "workspace",
    "hint",
    "scopes",
    "networks",
    "last_used_address",
    "key",
    "address",
    "level",
    "kind",
    "config",
    "domains",
    "subject",
    "groups",
    "role",
    "outcome",
    "counts",
    "losses",
    "clashes",
    "email",
    "teams",
    "scope",
    "resource",
    "permissions",
    "backend",
    "partitions",
    "runs",
    "reported",
    "gaps",
    "mark",
    "uuid",
    "type",
    "compute",
    "partition",
    "gpu_type",
    "run_as",
    "account",
    "qos",
    "gpu",
    "spec",
    "resources",
    "reason",
    "node",
    "nodes",
    "wait",
    "condition",
    "placement",
    "gpu_types",
    "native_id",
    "subject_type",
    "request_id",
    "holder",
    "body_hash",
    "body",
    "faults",
    "target",
    "password",
    "slug",
    "state",
    "prefix",
    "status",
    "mac",
    "hash",
    "previous",
    "link",
    "external_id",
    "job_rules",
    "links",
    "accepted",
    "cache_key",
    "value",
    "home",
    "home_id",
    "key_mac",
    "short_name",
    "gpus",  # utilization, numbers by GPU; pages show only the numbers
    "recent",  # utilization, numbers only
    "aliases",
    "approval",
    "last_special",
    "owner",
    "series_owner",
    "sha256",
    "stage",
    "trace_id",
    "unit",
}
DATASET = {"name": MARK, "digest": MARK, "source_type": MARK, "source": MARK}
FACTS = {"format": "pickle", "facts": {MARK: MARK}, "imports": [MARK], "error": MARK}
DOCUMENTS = {  # columns of JSON
    "Job.labels": {MARK[:60]: MARK[:60]},
    "Run.params": {MARK: MARK, "lr": MARK},
    "Run.tags": {MARK: MARK, "mlflow.note.content": MARK, "mlflow.source.git.commit": MARK},
    "Run.inputs": [{"dataset": DATASET, "tags": {"mlflow.data.context": MARK}}],
    "Run.outputs": [{"model_id": MARK, "step": 1}],
    "Experiment.tags": {MARK: MARK},
    "LoggedModel.params": {MARK: MARK},
    "LoggedModel.tags": {MARK: MARK},
    "RegisteredModel.tags": {MARK: MARK},
    "ModelVersion.tags": {MARK: MARK},
    "ModelVersion.metrics": {MARK: 1.5},
    "ModelVersion.signature": {"inputs": [{"name": MARK, "type": MARK}]},
    "ModelVersion.inspection": {
        "files": {MARK: {**FACTS, "dangerous": [MARK], "is_unsafe": True}},
        "unsafe": [MARK],
        "is_complete": True,
        "mlmodel": {"flavors": {MARK: {MARK: MARK}}, "requirements": [MARK], "run_id": MARK},
    },
}
PLANT = """
import json, sys
from django.apps import apps
from django.db import models
from workspaces.tenancy.scope import platform_scope
mark, free, documents = json.loads(%r)
IN_ADDRESSES = {"clusters.Cluster", "clusters.Node", "clusters.Pool", "workspaces.Secret", "workspaces.ServiceAccount"}
done = 0
with platform_scope("a test plants markup"):
    for model in apps.get_models():
        if model._meta.app_label not in ("workspaces", "clusters", "jobs", "experiments", "registry", "series"):
            continue
        rows = model._base_manager if model._meta.label_lower != "workspaces.user" else model.objects
        candidates = [f for f in model._meta.concrete_fields if f.name in free]
        fields = {f.name: f for f in candidates if not f.primary_key and not f.unique}
        if model._meta.label in IN_ADDRESSES:
            fields.pop("name", None)
        if model._meta.app_label == "series":
            fields.pop("labels", None)  # JSON in a text column
        for row in rows.all():
            for name, field in fields.items():
                if isinstance(field, models.JSONField):
                    if (planted := documents.get(f"{model.__name__}.{name}")) is not None:
                        rows.filter(pk=row.pk).update(**{name: planted})
                elif isinstance(field, (models.CharField, models.TextField)) and not field.choices:
                    text = f"{mark}{done}" if name in ("name", "path") else mark  # unique in places
                    rows.filter(pk=row.pk).update(**{name: text[: field.max_length or 500]})
                    done += 1
print(done)
"""


def text_columns() -> set[str]:
    return {
        field.name
        for model in apps.get_models()
        if model._meta.app_label in OURS
        for field in model._meta.concrete_fields
        if isinstance(field, models.CharField | models.TextField | models.JSONField)
    }


def test_every_text_column_is_filled_with_markup_or_excluded():
    assert text_columns() - FREE - MACHINE == set()
    assert set() == FREE & MACHINE


@pytest.fixture(scope="module")
def portal() -> Iterator[Portal]:
    """Return a portal with a job, a team, a role and others whose texts are all markup."""
    folder = Folder()
    made = Portal(folder, is_furnished=True)
    made.start()
    headers = {"Authorization": f"Bearer {made.token()}"}
    with httpx.Client(base_url=f"{made.url}/api/v1/orgs/home/", headers=headers, timeout=60) as api:
        run = {
            "name": "planted",
            "run": f"cat <<'END'\n{MARK}\nEND\nexit 3",
            "labels": {"team": "x"},
            "resources": {"cpus": 0.1, "memory": "64Mi"},
        }
        posts = [
            ("teams", {"slug": "planted", "name": MARK}),
            ("service-accounts", {"name": "planted", "note": MARK}),
            ("tokens", {"name": MARK, "scopes": ["all"]}),
            ("roles", {"slug": "planted", "name": MARK, "permissions": ["members:read"]}),
            ("invitations", {"email": "ina@elsewhere.example", "name": MARK}),
            ("members", {"email": "new@elsewhere.example", "name": MARK}),
            ("jobs", {"team": "default", "spec": run}),
        ]
        answers = {path: api.post(path, json=body) for path, body in posts}
        assert [
            answer.text for answer in answers.values() if answer.status_code not in {200, 201}
        ] == []
        assert api.put("secrets/default/planted", json={"value": "x"}).status_code < 300
        runs = log_runs(api)
        register_model(api)
        wait_until(lambda: api.get("jobs/1").json()["state"] == "failed", "the job ends", 60)
        assert (
            int(
                made.manage(
                    "shell",
                    "-v",
                    "0",
                    "-c",
                    PLANT % json.dumps([MARK, sorted(FREE), DOCUMENTS]),
                ).splitlines()[-1]
            )
            > 15
        )
        made.planted_runs = runs  # type: ignore[attr-defined]
        yield made
    made.stop()
    folder.close()


def log_runs(api: httpx.Client) -> list[str]:
    """Log two runs of an experiment, one below the other, and return their ids."""
    experiment = ok(api.post("experiments", json={"team": "default", "name": "planted"}))
    runs: list[str] = []
    for n in range(2):
        body = {"experiment": experiment["number"], "parent": runs[0] if runs else ""}
        run = ok(api.post("runs", json={k: v for k, v in body.items() if v}))["id"]
        metrics = [{"name": "loss", "value": 1 / step, "step": step} for step in (1, 2)]
        logged = {"metrics": metrics, "params": {"lr": str(n)}, "tags": {"a": "b"}}
        ok(api.post(f"runs/{run}/log", json=logged))
        ok(api.put(f"runs/{run}/artifacts/notes", content=MARK.encode()))
        runs.append(run)
    return runs


def register_model(api: httpx.Client) -> None:
    """Upload two versions, of which one waits for approval."""
    ok(api.post("models", json={"team": "default", "name": "planted", "description": MARK}))
    for _ in range(2):
        version = ok(api.post("models/default/planted/versions", json={}))["version"]
        place = f"models/default/planted/versions/{version}"
        ok(api.put(f"{place}/files/notes.txt", content=MARK.encode()))
        ok(api.post(f"{place}/finish"))
    ok(api.put("models/default/planted/aliases/best", json={"version": 1}))
    ok(api.post(f"{place}/approval", json={"do": "request", "note": MARK}))


def ok(answer: httpx.Response) -> dict[str, Any]:
    assert answer.is_success, answer.text
    return dict(answer.json())


@pytest.mark.browser
@pytest.mark.integration
def test_stored_markup_becomes_no_element_on_any_page(portal: Portal, browser: Browser):
    page, complaints, shown, bad, dead = browser.new_page(), [], set(), [], []
    watch(page, complaints)
    sign_in(page, portal)
    runs: list[str] = portal.planted_runs  # type: ignore[attr-defined]
    tabs = [f"/home/runs/{runs[0]}?tab={tab}" for tab in ("charts", "artifacts", "reproduce")]
    path = quote(stored_path(page, portal, runs[0]))
    queue = [
        "/home/",
        *tabs,
        f"{tabs[1]}&path={path}",
        f"/home/compare?runs={','.join(runs)}&file={path}",
        "/home/experiments/2?view=charts",
        "/home/experiments/2?group=lr",
    ]
    seen: set[str] = set()
    while queue and len(seen) < 120:
        path = queue.pop(0)
        seen.add(path)
        answer = page.goto(portal.url + path)
        if answer and answer.status >= 400:
            dead.append(path)
        page.wait_for_timeout(150)
        if page.locator(f"{TAG}, img[src=x], [onerror]").count():
            bad.append(path)
        if f"<{TAG}" in page.inner_text("body"):
            shown.add(path)
        queue += [link for link in links(page, portal) if link not in seen and link not in queue]
    page.context.close()
    assert bad == []
    assert dead == []
    assert complaints == []
    assert len(seen) > 20
    assert len(shown) > 6, shown


def stored_path(page: Page, portal: Portal, run: str) -> str:
    """Return the path of the only file of a run."""
    found = page.request.get(f"{portal.url}/api/v1/orgs/home/runs/{run}/artifacts").json()
    return str(found["entries"][0]["path"])


def sign_in(page: Page, portal: Portal) -> None:
    page.goto(f"{portal.url}/accounts/login/")
    page.fill("[name=login]", EMAIL)
    page.fill("[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.wait_for_url(f"{portal.url}/home/")


def links(page: Page, portal: Portal) -> list[str]:
    """Return the portal pages linked from this one, once each, without filters and downloads."""
    found = page.eval_on_selector_all(
        "a[href]", "all => all.filter(a => !a.hasAttribute('download')).map(a => a.href)"
    )
    ours = [urlsplit(urldefrag(link)[0]) for link in found if link.startswith(portal.url + "/")]
    skipped = ("/accounts/logout", "/api/", "/static/", "/healthz", "/metrics", "/.well-known/")
    return sorted(
        {
            link.path
            for link in ours
            if not link.path.startswith(skipped)
            and "download" not in link.path
            and "export" not in link.path
        }
    )
