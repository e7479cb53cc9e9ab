"""Reloading a page that shows a secret resubmits its form without effect."""

from __future__ import annotations

import re

from allauth.idp.oidc.models import Client

from tests.each import each
from workspaces.credentials.service_accounts import create_service_account
from workspaces.identity.oidc_provider.applications import create_application
from workspaces.models import AccessToken, Invitation
from workspaces.tenancy.scope import org_scope, platform_scope


def form_of(page: str) -> dict[str, str]:
    return {"once": re.findall(r'name="once" value="([^"]+)"', page)[-1]}


def mst(page: str) -> list[str]:
    return re.findall(r">(mst_\w+)<", page)


@each("path", ["/atlas/tokens", "/atlas/service-accounts/nightly"])
def test_token_form_resubmitted_creates_once(story, path):
    with org_scope(story.atlas.id):
        create_service_account(actor=story.actor(story.ada), org=story.atlas, name="nightly")
    browser = story.client(story.ada)
    form = form_of(browser.get(path).content.decode()) | {
        "do": "token",
        "name": "laptop",
        "days": "90",
    }
    first = browser.post(path, form)
    again = browser.post(path, form, follow=True)
    assert len(mst(first.content.decode())) == 1 and mst(again.content.decode()) == []
    assert again.redirect_chain == [(path, 302)] and "was already sent" in again.content.decode()
    with platform_scope("test"):
        assert AccessToken.objects.filter(name="laptop").count() == 1
    other = form | form_of(first.content.decode())
    assert len(mst(browser.post(path, other).content.decode())) == 1, (
        "a new form creates another one"
    )


def test_form_mark_is_per_user_and_optional(story):
    form = {"name": "laptop", "days": "90", "once": "the same for both"}
    made = [story.client(person).post("/atlas/tokens", form) for person in (story.ada, story.ben)]
    plain = [
        story.client(story.ada).post("/atlas/tokens", {"name": "laptop", "days": "90"})
        for _ in range(2)
    ]
    assert all(len(mst(answer.content.decode())) == 1 for answer in (*made, *plain))


def test_invitation_renewal_resubmitted_keeps_link(story):
    browser = story.client(story.ada)
    browser.post(
        "/atlas/invitations",
        {"do": "invite", "email": "ina@else.example", "role": "member", "days": "3"},
    )
    with platform_scope("test"):
        row = Invitation.objects.get()
    form = form_of(browser.get("/atlas/invitations").content.decode()) | {
        "do": "renew",
        "id": str(row.id),
    }
    browser.post("/atlas/invitations", form)
    with platform_scope("test"):
        renewed = Invitation.objects.get().digest
    browser.post("/atlas/invitations", form)
    with platform_scope("test"):
        assert row.digest != renewed == Invitation.objects.get().digest


@each(
    ("path", "bad", "good"),
    [
        ("/atlas/tokens", {"name": "", "days": "90"}, {"name": "laptop"}),
        (
            "/atlas/service-accounts/nightly",
            {"do": "token", "name": "laptop", "days": "many"},
            {"days": "90"},
        ),
        (
            "/atlas/invitations",
            {"do": "invite", "email": "no address", "role": "member", "days": "3"},
            {"email": "ina@else.example"},
        ),
    ],
)
def test_failed_form_can_be_resubmitted(story, path, bad, good):
    with org_scope(story.atlas.id):
        create_service_account(actor=story.actor(story.ada), org=story.atlas, name="nightly")
    browser = story.client(story.ada)
    form = form_of(browser.get(path).content.decode()) | bad
    assert (
        made() == 0
        and "was already sent" not in browser.post(path, form).content.decode()
        and made() == 0
    )
    assert (
        "was already sent" not in browser.post(path, form | good).content.decode() and made() == 1
    )
    assert (
        "was already sent" in browser.post(path, form | good, follow=True).content.decode()
        and made() == 1
    )


def test_application_secret_form_resubmitted_rotates_once(story):
    actor, browser = story.actor(story.dot, story.atlas), story.client(story.dot)
    create_application(
        actor=actor,
        client_id="grafana",
        name="Grafana",
        addresses=["https://grafana.example.com/back"],
    )
    form = form_of(browser.get("/platform/applications/grafana").content.decode()) | {
        "verb": "renew"
    }
    assert "mca_" in browser.post("/platform/applications/grafana", form).content.decode()
    kept = Client.objects.get(id="grafana").secret
    assert (
        "was already sent"
        in browser.post("/platform/applications/grafana", form, follow=True).content.decode()
    )
    assert Client.objects.get(id="grafana").secret == kept


def made() -> int:
    with platform_scope("test"):
        return AccessToken.objects.filter(name="laptop").count() + Invitation.objects.count()
