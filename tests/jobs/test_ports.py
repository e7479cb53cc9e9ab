"""Ports of a job: refused where a cluster offers no endpoints, part of the launch elsewhere."""

from __future__ import annotations

import pytest

from jobs.dispatch.launch import rehearsal_launch
from portal.core.errors import InvalidInput
from schedulers.contract import Capability, LaunchPort, PortProtocol
from schedulers.local.backend import LocalBackend
from schedulers.spec import parse_mapping
from tests.jobs.stage import cluster_with, submit
from workspaces.tenancy.scope import org_scope

PORTS = [{"name": "web", "port": 8080}, {"name": "db", "port": 5432, "protocol": "tcp"}]


def test_ports_are_refused_without_endpoints_and_carried_into_the_launch(story, monkeypatch):
    cluster_with()
    monkeypatch.setattr(LocalBackend, "capabilities", frozenset({Capability.PLACES}))
    with pytest.raises(InvalidInput, match="ports are not supported here") as refused:
        submit(story, ports=PORTS)
    assert refused.value.data["errors"][0]["field"] == "ports"
    with org_scope(story.atlas.id):
        spec = parse_mapping({"run": "true", "ports": PORTS})
        launch = rehearsal_launch(None, story.vision, story.actor(story.ben), spec)
    assert launch.network.ports == (
        LaunchPort("web", 8080),
        LaunchPort("db", 5432, PortProtocol.TCP),
    )
