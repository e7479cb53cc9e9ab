"""The REST API of models: a journey, ranges, and what other tenants and teams get."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.registry.conftest import MLMODEL, UNSAFE, safetensors
from workspaces.models import TeamMembership
from workspaces.tenancy.scope import no_scope, org_scope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]
ROOT = "/api/v1/orgs/atlas/models"
MODEL = f"{ROOT}/vision/digits"


def send(client: Client, verb: str, url: str, body=None, status: int = 200, **headers):
    with no_scope():
        answer = client.generic(
            verb,
            url,
            body if isinstance(body, bytes) else json.dumps(body or {}),
            content_type="application/octet-stream"
            if isinstance(body, bytes)
            else "application/json",
            headers=headers,
        )
    assert answer.status_code == status, answer.content
    return answer.json() if answer.get("Content-Type", "").endswith("json") else answer


@pytest.fixture
def ben(story):
    client = story.api(story.ben)
    send(client, "POST", ROOT, {"name": "digits", "team": "vision", "description": "# D"}, 201)
    return client


def upload(client: Client, files: dict[str, bytes]) -> dict:
    made = send(client, "POST", f"{MODEL}/versions", {"description": "new"}, 201)
    base = f"{MODEL}/versions/{made['version']}"
    for path, data in files.items():
        send(client, "PUT", f"{base}/files/{path}", data, 201)
    return send(client, "POST", f"{base}/finish")


def test_model_goes_from_upload_to_promotion(story, ben):
    ada = story.api(story.ada)
    version = upload(ben, {"model/MLmodel": MLMODEL, "model/w.safetensors": safetensors()})
    base = f"{MODEL}/versions/1"
    assert (version["status"], version["formats"]) == ("READY", ["safetensors"])
    assert version["signature"]["outputs"] == [{"type": "long"}]
    files = send(ben, "GET", f"{base}/files")["items"]
    assert [f["path"] for f in files] == ["model/MLmodel", "model/w.safetensors"]
    part = send(ben, "GET", f"{base}/files/model/MLmodel", status=206, Range="bytes=0-6")
    assert b"".join(part) == MLMODEL[:7]
    assert send(ben, "PUT", f"{base}/files/x", b"1", 409)["code"] == "immutable"
    aliases = send(ben, "PUT", f"{MODEL}/aliases/champion", {"version": 1, "if_version": 0})
    assert aliases["aliases"] == {"champion": 1}
    moved = send(ben, "PUT", f"{MODEL}/aliases/champion", {"version": 1, "if_version": 0}, 409)
    assert moved["code"] == "changed"
    assert send(ben, "GET", f"{MODEL}/versions/champion")["version"] == 1
    send(ben, "POST", f"{base}/approval", {"do": "request", "note": "please"})
    send(ben, "POST", f"{base}/approval", {"do": "approve"}, 403)
    approved = send(ada, "POST", f"{base}/approval", {"do": "approve"})
    assert approved["approval"]["by"] == story.ada.email
    assert send(ben, "PATCH", base, {"description": "x"}, 403)["code"] == "not_permitted"
    send(ben, "PUT", f"{base}/stage", {"stage": "Production"})
    made = send(ada, "POST", f"{base}/promote", {"team": "speech"}, 201)
    assert made["promoted_from"] == {"team": "vision", "name": "digits", "version": 1}
    listed = send(ada, "GET", f"{ROOT}?q=digits&approval=approved")["items"]
    assert [(row["team"], row["latest"]) for row in listed] == [("vision", 1)]
    assert [r["team"] for r in send(ben, "GET", ROOT)["items"]] == ["vision"]
    assert send(ben, "DELETE", base, status=409)["code"] == "has_alias"
    send(ben, "DELETE", f"{MODEL}/aliases/champion", status=204)
    assert send(ben, "DELETE", base, status=409)["code"] == "approved"


def test_unsafe_pickle_is_named_and_must_be_acknowledged(story, ben):
    version = upload(ben, {"model.pkl": UNSAFE})
    assert version["unsafe"] == ["model.pkl"]
    facts = version["inspection"]["files"]["model.pkl"]
    assert facts["dangerous"] == ["builtins.eval"]
    base = f"{MODEL}/versions/1"
    failed = send(ben, "POST", f"{base}/approval", {"do": "request"}, 409)
    assert failed["data"]["checks"] == ["pickle"]
    send(ben, "POST", f"{base}/approval", {"do": "acknowledge"})
    assert send(ben, "POST", f"{base}/approval", {"do": "request"})["approval"]["state"] == (
        "requested"
    )


def test_trash_restores_and_purges(ben):
    upload(ben, {"w.safetensors": safetensors()})
    seen = send(ben, "GET", MODEL)["updated_at"]
    send(ben, "PATCH", MODEL, {"tags": {"a": "1"}, "seen_at": seen})
    assert send(ben, "PATCH", MODEL, {"tags": {"a": None}, "seen_at": seen}, 409)["code"] == (
        "changed"
    )
    send(ben, "DELETE", MODEL, status=204)
    send(ben, "GET", MODEL, status=404)
    (trashed,) = send(ben, "GET", f"{ROOT}-trash")["items"]
    restored = send(ben, "POST", f"{ROOT}-trash/{trashed['id']}")
    assert (restored["latest"], restored["tags"]) == (1, {"a": "1"})
    send(ben, "DELETE", f"{ROOT}-trash/{trashed['id']}", status=404)
    send(ben, "DELETE", MODEL, status=204)
    send(ben, "DELETE", f"{ROOT}-trash/{trashed['id']}", status=204)
    assert send(ben, "GET", f"{ROOT}-trash")["items"] == []


def test_other_tenants_and_teams_get_404(story, ben):
    upload(ben, {"w.safetensors": safetensors()})
    cyd = story.api(story.cyd)
    paths = ["", "/versions", "/versions/1", "/versions/1/files", "/versions/1/files/w.safetensors"]
    for path in paths:
        send(cyd, "GET", f"{MODEL}{path}", status=404)
        send(cyd, "GET", f"{MODEL}{path}".replace("atlas", "borealis"), status=404)
    with org_scope(story.atlas.id):
        TeamMembership.objects.filter(user=story.ben).delete()
    for path in paths:
        send(ben, "GET", f"{MODEL}{path}", status=404)
    assert send(ben, "GET", ROOT)["items"] == []
