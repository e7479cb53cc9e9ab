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


def test_application_secret_is_shown_once_and_stored_hashed(dot):
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
def test_application_invalid_redirect_uri_is_rejected(dot, address):
    with pytest.raises(InvalidInput):
        _make(dot, addresses=[address])


def test_application_id_is_unique_and_cli_id_is_reserved(dot):
    _make(dot)
    for taken in ("grafana", "muster-cli"):
        with pytest.raises(Conflict):
            _make(dot, taken)
    with pytest.raises(NotFound):
        service.remove_application(actor=dot, client_id="muster-cli")


def test_applications_are_denied_to_organization_owners(story, dot):
    _make(dot)
    ada = story.actor(story.ada)
    for act in (
        lambda: service.applications(ada),
        lambda: service.remove_application(actor=ada, client_id="grafana"),
        lambda: service.renew_secret(actor=ada, client_id="grafana"),
    ):
        with pytest.raises(NotPermitted):
            act()


def test_application_page_shows_secret_once(story, dot):
    client = story.client(story.dot)
    made = client.post(
        "/platform/applications", {"client_id": "grafana", "name": "Grafana", "addresses": BACK}
    ).content.decode()
    assert "mca_" in made and "mca_" not in client.get("/platform/applications").content.decode()
    assert (
        "mca_" in client.post("/platform/applications/grafana", {"verb": "renew"}).content.decode()
    )
    client.post("/platform/applications/grafana", {"verb": "remove"})
    assert not Application.objects.filter(id="grafana").exists()
