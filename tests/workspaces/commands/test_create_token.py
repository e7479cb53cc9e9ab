"""manage.py create_token prints a token and nothing else."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.each import each
from workspaces.credentials.token_format import authenticate_token, is_well_formed
from workspaces.models import AccessToken
from workspaces.tenancy.scope import platform_scope


def _run_command(*arguments: str) -> str:
    out, err = StringIO(), StringIO()
    call_command("create_token", *arguments, stdout=out, stderr=err)
    assert err.getvalue() == ""
    return out.getvalue()


def test_create_token_prints_only_working_token(story):
    message = _run_command(story.ada.email, "--org", "atlas", "--scopes", "all")
    assert message.endswith("\n")
    assert is_well_formed(message.removesuffix("\n"))
    assert authenticate_token(message.strip()).user_id == story.ada.id


def test_create_token_restricts_team_and_scopes(story):
    message = _run_command(
        story.ben.email.upper(),
        "--org",
        "atlas",
        "--team",
        "vision",
        "--scopes",
        "jobs:read, jobs:submit",
    )
    facts = authenticate_token(message.strip()).token
    assert facts.team_id == story.vision.id
    assert facts.scopes == {"jobs:read", "jobs:submit"}


def test_create_token_zero_days_never_expires(story):
    _run_command(story.ada.email, "--org", "atlas", "--scopes", "all", "--days", "0")
    with platform_scope("test"):
        assert AccessToken.objects.get().expires_at is None


@each(
    "arguments",
    [
        ("nobody@x.example", "--org", "atlas", "--scopes", "all"),
        ("ada@atlas.example", "--org", "nowhere", "--scopes", "all"),
        ("ada@atlas.example", "--org", "atlas", "--team", "north", "--scopes", "all"),
        ("ada@atlas.example", "--org", "atlas", "--scopes", "fly"),
        ("cyd@borealis.example", "--org", "atlas", "--scopes", "all"),
    ],
)
def test_create_token_invalid_arguments_fail_without_token(story, arguments):
    with pytest.raises(CommandError) as caught:
        _run_command(*arguments)
    assert len(str(caught.value)) > 10
    with platform_scope("test"):
        assert not AccessToken.objects.exists()
