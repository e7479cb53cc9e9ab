"""Compliance of the SCIM server, checked by scim2-tester."""

from __future__ import annotations

import pytest
from scim2_client.engines.wsgi import WSGISCIMClient
from scim2_tester import Status, check_server

pytestmark = pytest.mark.integration


@pytest.fixture
def wsgi(story):
    """Return the portal's WSGI app, which keeps the test's database connection open."""
    from django.core.handlers.wsgi import WSGIHandler
    from django.core.signals import request_finished, request_started
    from django.db import close_old_connections

    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield WSGIHandler()
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def test_scim2_tester_reports_no_errors(scim, wsgi):
    client = WSGISCIMClient(
        wsgi, base_url=f"http://localhost{scim.base}", headers={"Authorization": scim.authorization}
    )
    results = check_server(client)
    wrong = [
        f"{r.title} {r.status.name}: {r.reason}"
        for r in results
        if r.status in (Status.ERROR, Status.CRITICAL)
    ]
    assert not wrong, "\n".join(wrong)
    assert sum(r.status == Status.SUCCESS for r in results) > 20
