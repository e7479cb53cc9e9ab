"""User input cannot inject mail headers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.core import mail
from django.test import Client

from portal.core.errors import InvalidInput
from portal.core.messages import Message
from tests.each import each
from workspaces.models import Invitation, Organization, User
from workspaces.organizations.invitation_links import send_invitation
from workspaces.organizations.invitations import invite
from workspaces.tenancy.scope import org_scope

BREAKS = ["\n", "\r", "\r\n", "\r\n ", "\x0b", "\x0c", "\x85", "\u2028"]


def evil(end: str) -> str:
    return f"Atlas{end}Bcc: everybody@evil.example{end}{end}hello"


@pytest.fixture(autouse=True)
def outbox(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


def heads() -> list[str]:
    [sent] = mail.outbox
    head, _, _ = sent.message().as_bytes().decode().partition("\n\n")
    return [
        line.partition(":")[0] for line in head.splitlines() if not line.startswith((" ", "\t"))
    ]


@each("end", BREAKS)
def test_invitation_mail_headers_cannot_be_injected(story, end):
    row = Invitation(email="ina@else.example", org=Organization(name=evil(end), slug="atlas"))
    with org_scope(story.atlas.id):
        send_invitation(SimpleNamespace(row=row, url="https://muster.example/i/x"), evil(end))
    assert "Bcc" not in heads() and mail.outbox[0].recipients() == ["ina@else.example"]
    assert mail.outbox[0].subject.count("Bcc: everybody@evil.example") == 2, (
        "it is part of the subject"
    )


@each("end", BREAKS)
def test_notification_mail_headers_cannot_be_injected(story, end):
    from notifications.channels.mail import compose
    from notifications.models import Delivery

    row = Delivery(
        user=story.ben,
        org=Organization(name=evil(end), slug="atlas"),
        kind="decision",
        title=Message("Your request for {resource} was declined", resource=evil(end)),
        path="/atlas/quotas",
    )
    compose(story.ben, None, [row]).send()
    assert "Bcc" not in heads() and mail.outbox[0].recipients() == [story.ben.email]


@each("end", BREAKS)
def test_invitation_and_reset_reject_multiple_addresses(story, end):
    address = f"ina@else.example{end}Bcc: everybody@evil.example"
    with org_scope(story.atlas.id), pytest.raises(InvalidInput):
        invite(actor=story.actor(story.ada), org=story.atlas, email=address, role="member")
    Client().post(
        "/accounts/password/reset/", {"email": f"{story.ada.email}{end}Bcc: everybody@evil.example"}
    )
    assert mail.outbox == [] and not User.objects.filter(email__contains="Bcc").exists()


def test_password_reset_is_mailed_to_account_address(story):
    Client().post("/accounts/password/reset/", {"email": story.ada.email.upper()})
    assert "Bcc" not in heads() and mail.outbox[0].recipients() == [story.ada.email]
