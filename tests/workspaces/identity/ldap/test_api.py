"""Directories by the REST API, with a real slapd."""

from __future__ import annotations

import json

from tests.rig.slapd import BASE, READER_PASSWORD
from workspaces.identity.directory_threads import work
from workspaces.models import Identity, Membership, User
from workspaces.tenancy.scope import no_scope, platform_scope

ROOT = "/api/v1/orgs/atlas/providers"


def send(client, method, path, body=None):
    answer = client.generic(method, path, json.dumps(body or {}), content_type="application/json")
    return answer.status_code, answer.json() if answer.content else {}


def begun(client, path, body=None):
    """Start a background task, run it and return its result."""
    answer = client.post(path, json.dumps(body or {}), content_type="application/json")
    assert answer.status_code == 202, answer.content
    with no_scope():
        work()
    return client.get(answer["Location"]).json()


def test_directory_api_from_creation_to_removal(story, slapd):
    api = story.api(story.dot, story.atlas)
    given = {
        "kind": "ldap",
        "slug": "corp",
        "name": "Corp",
        "options": slapd.options(),
        "domains": ["corp.example"],
    }
    found = begun(
        api, "/api/v1/orgs/atlas/provider-test", {"kind": "ldap", "options": slapd.options()}
    )
    assert found["is_ok"] and found["facts"]["people"] == 3
    code, made = send(api, "POST", ROOT, given)
    assert (
        code == 201
        and made["secrets"] == ["bind_password"]
        and READER_PASSWORD not in json.dumps(made)
    )
    assert send(api, "POST", ROOT, given)[0] == 409
    assert begun(api, f"{ROOT}/corp/test")["is_ok"]
    assert send(api, "GET", f"{ROOT}/corp/groups?q=staf")[1]["items"] == [
        f"cn=staff,ou=groups,{BASE}"
    ]
    code, rules = send(
        api,
        "PUT",
        f"{ROOT}/corp/rules",
        {"rules": [{"group": f"CN=staff,ou=groups,{BASE}", "team": "vision", "role": "member"}]},
    )
    assert code == 200 and rules["items"][0]["group"] == f"cn=staff,ou=groups,{BASE}"
    dry = begun(api, f"{ROOT}/corp/runs", {"is_dry": True})
    assert dry["outcome"] == "dry" and dry["counts"]["new"] == 2 and not Identity.objects.exists()
    done = begun(api, f"{ROOT}/corp/runs")
    assert done["outcome"] == "done" and User.objects.filter(email="bob@corp.example").exists()
    send(api, "PATCH", f"{ROOT}/corp", {"options": {"people_base": f"ou=empty,{BASE}"}})
    stopped = begun(api, f"{ROOT}/corp/runs")
    assert stopped["outcome"] == "stopped"
    accepted = begun(api, f"{ROOT}/corp/runs", {"accept": stopped["id"]})
    assert accepted["outcome"] == "done"
    with platform_scope("test"):
        assert Membership.objects.filter(provider__slug="corp", suspended_at=None).count() == 0
    assert [run["outcome"] for run in send(api, "GET", f"{ROOT}/corp/runs")[1]["items"]] == [
        "done",
        "stopped",
        "done",
        "dry",
    ]
    assert (
        send(api, "DELETE", f"{ROOT}/corp")[0] == 204 and send(api, "GET", f"{ROOT}/corp")[0] == 404
    )


def test_directory_page_lists_removed_people_with_running_jobs(story, own, slapd):
    from clusters.backends import ensure_first_cluster
    from jobs import services
    from schedulers.spec import parse_mapping
    from workspaces.tenancy.scope import org_scope

    ensure_first_cluster()
    client = story.client(story.ada)
    client.post("/atlas/directories/atlas-own/act", {"do": "run"})
    assert "Reading the directory." in client.get("/atlas/directories/atlas-own").content.decode()
    with no_scope():
        work()
    bob = User.objects.get(email="bob@corp.example")
    with org_scope(story.atlas.id):
        Membership.objects.filter(user=bob).update(role="owner")
        services.submit_job(
            actor=story.actor(bob),
            team=story.vision,
            spec=parse_mapping({"run": "true", "name": "left-behind"}),
        )
    Identity.objects.filter(user=bob).update(gone_since=story.atlas.created_at)
    page = client.get("/atlas/directories/atlas-own").content.decode()
    assert "Left the directory" in page and "left-behind" in page and "bob@corp.example" in page
