"""Registration of applications that use Muster for sign-in."""

from __future__ import annotations

import pytest
from allauth.idp.oidc.models import Client as Application

from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from tests.each import each
from workspaces.identity.oidc_provider import applications as service

BACK = "https://grafana.example/login/generic_oauth"


@pytest.fixture
def dot(story):
    return story.actor(story.dot, story.atlas)


def _make(dot, client_id="grafana", addresses=(BACK,)):
    return service.create_application(
        actor=dot, client_id=client_id, name="Grafana", addresses=addresses
    )


def test_the_secret_is_shown_once_and_kept_as_a_hash(dot):
    made = _make(dot)
    row = Application.objects.get(id="grafana")
    assert (
        made.secret not in str(vars(row))
        and row.check_secret(made.secret)
        and not row.check_secret("x")
    )
    again = service.renew_secret(actor=dot, client_id="grafana")
    row.refresh_from_db()
    assert row.check_secret(again.secret) and not row.check_secret(made.secret)


@each(
    "address",
    [
        "http://grafana.example/",
        "https://*.example/",
        "javascript:alert(1)",
        "https://a b/",
        "https://u:p@grafana.example/",
        "https://grafana.example/#x",
        "//grafana.example/",
        "",
        "https://g.example:99999/",
    ],
)
def test_an_address_that_may_not_be_answered_is_refused(dot, address):
    with pytest.raises(InvalidInput):
        _make(dot, addresses=[address])


def test_an_id_is_given_once_and_the_command_lines_is_nobodys(dot):
    _make(dot)
    for taken in ("grafana", "muster-cli"):
        with pytest.raises(Conflict):
            _make(dot, taken)
    with pytest.raises(NotFound):
        service.remove_application(actor=dot, client_id="muster-cli")


def test_an_owner_of_an_organization_has_nothing_to_do_with_them(story, dot):
    _make(dot)
    ada = story.actor(story.ada)
    for act in (
        lambda: service.applications(ada),
        lambda: service.remove_application(actor=ada, client_id="grafana"),
        lambda: service.renew_secret(actor=ada, client_id="grafana"),
    ):
        with pytest.raises(NotPermitted):
            act()


def test_the_page_shows_the_secret_in_that_answer_only(story, dot):
    client = story.client(story.dot)
    made = client.post(
        "/atlas/applications", {"client_id": "grafana", "name": "Grafana", "addresses": BACK}
    ).content.decode()
    assert "mca_" in made and "mca_" not in client.get("/atlas/applications").content.decode()
    assert "mca_" in client.post("/atlas/applications/grafana", {"verb": "renew"}).content.decode()
    client.post("/atlas/applications/grafana", {"verb": "remove"})
    assert not Application.objects.filter(id="grafana").exists()
