"""Test retries and typed errors."""

from __future__ import annotations

import pytest

import muster
from muster import Client, transport
from muster.errors import (
    InvalidInput,
    MusterError,
    NotAuthenticated,
    NotFound,
    NotPermitted,
    QuotaExceeded,
    RateLimited,
    TooLarge,
    Unavailable,
)
from tests.client.portal_double import TOKEN, Fault, PortalDouble
from tests.stand_in import StandIn

SPEC = {"run": "true"}


def test_post_is_retried_with_the_same_idempotency_key(portal: PortalDouble, client: Client):
    portal.faults.extend([Fault(503, "/jobs"), Fault(500, "/jobs"), Fault("drop", "/jobs")])
    assert client.jobs.submit(SPEC).number == 1
    keys = {before.headers["idempotency-key"] for before in portal.posts("/jobs")}
    assert len(portal.posts("/jobs")) == 4
    assert len(keys) == 1


def test_submit_with_a_lost_response_creates_one_job(portal: PortalDouble, client: Client):
    portal.faults.append(Fault("drop", "/jobs", acts=True))
    assert client.jobs.submit(SPEC).number == 1
    assert len(portal.jobs) == 1


def test_submissions_have_different_idempotency_keys(portal: PortalDouble, client: Client):
    client.jobs.submit(SPEC)
    client.jobs.submit(SPEC)
    assert len({before.headers["idempotency-key"] for before in portal.posts("/jobs")}) == 2
    assert len(portal.jobs) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 501])
def test_permanent_error_is_not_retried(portal: PortalDouble, client: Client, status: int):
    portal.faults.append(Fault(status, "/me"))
    with pytest.raises(MusterError):
        client.me()
    assert len(portal.asked) == 1


def test_request_gives_up_after_its_retries(portal: PortalDouble):
    portal.faults.extend(Fault(503) for _ in range(9))
    with Client(portal.url, TOKEN, tries=3) as client, pytest.raises(Unavailable):
        client.me()
    assert len(portal.asked) == 3


def test_retry_after_is_respected(
    portal: PortalDouble, client: Client, monkeypatch: pytest.MonkeyPatch
):
    slept: list[float] = []
    monkeypatch.setattr(transport, "time", StandIn(transport.time, sleep=slept.append))
    portal.faults.append(Fault(429, headers={"Retry-After": "7"}))
    client.me()
    assert len(slept) == 1
    assert 7 <= slept[0] < 7.2


def test_retry_after_of_an_hour_raises_at_once(portal: PortalDouble, client: Client):
    portal.faults.append(Fault(429, headers={"Retry-After": "3600"}))
    with pytest.raises(RateLimited):
        client.me()


def test_retry_after_may_be_a_date():
    assert transport.pause(0, "Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert transport.pause(0, "Wed, 21 Oct 2065 07:28:00 GMT") > transport.LONGEST_WAIT


def test_delete_with_a_lost_response_succeeds(portal: PortalDouble, client: Client):
    portal.lists["tokens"] = [{"id": "t1"}]
    portal.faults.append(Fault("drop", "/tokens", acts=True))
    client.tokens.revoke("t1")
    assert portal.lists["tokens"] == []


def test_delete_of_a_missing_object_is_not_found(client: Client):
    with pytest.raises(NotFound):
        client.tokens.revoke("t1")


def test_exec_is_never_retried(portal: PortalDouble, client: Client):
    portal.add_job()
    portal.faults.append(Fault("drop", "/exec", acts=True))
    with pytest.raises(Unavailable):
        client.jobs.exec(1, ["rm", "x"])
    assert len(portal.posts("/exec")) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidInput),
        (401, NotAuthenticated),
        (403, NotPermitted),
        (404, NotFound),
        (413, TooLarge),
        (418, MusterError),
    ],
)
def test_each_status_raises_its_error(
    portal: PortalDouble, client: Client, status: int, kind: type[MusterError]
):
    portal.faults.append(Fault(status))
    with pytest.raises(kind) as error:
        client.me()
    assert (error.value.status, error.value.code, error.value.message) == (
        status,
        f"code_{status}",
        "On demand.",
    )
    assert type(error.value) is kind


def test_conflict_error_class_depends_on_the_code():
    body = {
        "code": "quota_exceeded",
        "detail": "Ask for 2 less.",
        "errors": [{"field": "x", "message": "y"}],
        "request_id": "r1",
    }
    error = muster.errors.error_of(409, body, "", "http://portal")
    assert isinstance(error, QuotaExceeded)
    assert (error.errors, error.request_id) == ([{"field": "x", "message": "y"}], "r1")


def test_response_of_another_server_names_the_url(portal: PortalDouble, client: Client):
    portal.faults.append(Fault(404, body="<html>nginx</html>"))
    with pytest.raises(NotFound, match="not as a Muster portal") as error:
        client.me()
    assert portal.url in error.value.message


def test_refused_connection_is_unavailable_and_names_the_url(portal: PortalDouble):
    portal.close()
    with (
        Client(portal.url, TOKEN, tries=2) as client,
        pytest.raises(Unavailable, match="Cannot connect to"),
    ):
        client.me()


def test_client_without_a_token_sends_nothing(portal: PortalDouble):
    with Client(portal.url) as client, pytest.raises(NotAuthenticated, match="muster login"):
        client.me()
    assert portal.asked == []


def test_token_with_a_line_break_is_refused(portal: PortalDouble):
    with pytest.raises(NotAuthenticated):
        Client(portal.url, "mst_a\nHost: evil")
