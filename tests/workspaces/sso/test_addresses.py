"""An address that nobody proved is nobody's."""

from __future__ import annotations

from allauth.account.models import EmailAddress

from workspaces.models import User

PAGE = "/accounts/email/"


def test_nobody_takes_an_address_for_theirs_by_typing_it(story):
    client, before = story.client(story.ben), story.ben.email
    asked = [client.post(PAGE, {"action_add": "", "email": "boss@borealis.example"}),
             client.post(PAGE, {"action_primary": "", "email": "boss@borealis.example"}), client.get(PAGE)]
    assert {answer.status_code for answer in asked} == {404}
    assert User.objects.get(id=story.ben.id).email == before
    assert not EmailAddress.objects.filter(email="boss@borealis.example").exists()
