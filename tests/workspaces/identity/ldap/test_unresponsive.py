"""A directory that accepts connections and never answers."""

from __future__ import annotations

import socket
import threading

import pytest

from tests.stand_in import StandIn
from tests.workspaces.identity.ldap.test_api import ROOT, send
from workspaces.identity import directory_threads
from workspaces.identity.ldap import client as ldap_client
from workspaces.identity.ldap import connection
from workspaces.models import DirectoryRun
from workspaces.tenancy.scope import no_scope


@pytest.fixture
def silent():
    """Yield the URL of a server that never answers."""
    listening = socket.create_server(("127.0.0.1", 0))
    yield f"ldaps://127.0.0.1:{listening.getsockname()[1]}"
    listening.close()


def test_hanging_directory_blocks_no_request_and_times_out(story, silent, monkeypatch):
    api = story.api(story.dot, story.atlas)
    options = {"url": silent, "people_base": "ou=people,dc=corp,dc=example", "is_private": True}
    assert (
        send(
            api, "POST", ROOT, {"kind": "ldap", "slug": "corp", "name": "Corp", "options": options}
        )[0]
        == 201
    )
    requests = []
    stand_in = StandIn(
        socket,
        create_connection=lambda *given, **named: (
            requests.append(threading.current_thread()) or _really(*given, **named)
        ),
    )
    monkeypatch.setattr(connection, "socket", stand_in)
    begun = [
        send(api, "POST", f"{ROOT}/corp/runs", {"is_dry": True}),
        send(api, "POST", f"{ROOT}/corp/test"),
    ]
    assert [code for code, _ in begun] == [202, 202] and requests == []  # no request has queried it
    # one at a time, dry run or not
    assert send(api, "POST", f"{ROOT}/corp/runs", {"is_dry": True})[0] == 409
    monkeypatch.setattr(ldap_client, "ANSWER", 0.2)
    with no_scope():
        directory_threads.work()
    run, test = (
        send(api, "GET", path)[1]
        for path in (
            f"{ROOT}/corp/runs/{begun[0][1]['id']}",
            f"/api/v1/orgs/atlas/provider-tests/{begun[1][1]['id']}",
        )
    )
    assert (
        len(requests) == 2
        and run["outcome"] == "failed"
        and "but doesn't respond" in run["message"] + test["message"]
        and not test["is_ok"]
    )
    assert (
        send(api, "POST", f"{ROOT}/corp/runs", {"is_dry": True})[0] == 202
        and DirectoryRun.objects.count() == 2
    )


def test_directory_threads_are_shared_between_organizations():
    """Five organizations with two hanging directories each leave a thread for a sixth."""
    orgs = [*"AABBCCDDEE", "F"]

    def began(waiting: list[str]) -> str:
        """Let each run that may start hang until those behind it were considered."""
        if not waiting:
            return ""
        behind = []

        def run(may_begin):
            is_let = may_begin(waiting[0])
            behind.append((waiting[0] if is_let else "-") + (began(waiting[1:]) if is_let else ""))
            return False

        directory_threads._run_one(run)
        return behind[0] if behind[0] != "-" else "-" + began(waiting[1:])

    assert began(orgs) == "AABBC-D-E-F"


_really = socket.create_connection
