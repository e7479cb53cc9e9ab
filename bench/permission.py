"""Measure a permission check with warm caches, for a person and a token with a custom role.

The peer is Django's `ModelBackend.has_perm` with the user's permissions already cached.
"""

from __future__ import annotations

import os
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

from bench.table import Row, report

ROUNDS, CHECKS, TARGET = 15, 20_000, 50.0  # µs


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as home:
        os.environ.update(MUSTER_HOME=home, DJANGO_SETTINGS_MODULE="portal.settings")
        import django

        django.setup()
        report([_row()])


def _row() -> Row:
    from workspaces.access.actors import Actor, TokenFacts, authorize
    from workspaces.access.permissions import Permission
    from workspaces.access.roles import custom_role
    from workspaces.access.steps import explained

    org, team = uuid.uuid4(), uuid.uuid4()
    seats = {uuid.uuid4(): "member" for _ in range(20)} | {team: "trainer"}
    own = {"trainer": custom_role("trainer", "team", "Trainer", ["jobs:read", "jobs:submit"])}
    person = Actor(
        user_id=org,
        email="kim@atlas.example",
        org_id=org,
        org_role="member",
        team_roles=seats,
        own_roles=own,
    )
    scopes = frozenset({"jobs:read", "jobs:submit", "teams:read"})
    token = replace(
        person, token=TokenFacts(id=org, org_id=org, team_id=team, attempt_id=None, scopes=scopes)
    )
    submit = Permission.JOBS_SUBMIT
    wanted = str(submit)
    ours = {
        "person": lambda: authorize(person, submit, team),
        "token": lambda: authorize(token, submit, team),
        "teams": lambda: person.teams_where(submit),
        "why": lambda: explained(person.case(submit, team)),
    }
    seconds = {name: _micro(call) for name, call in ours.items()}
    raw = _micro(lambda: wanted in scopes)
    peer = _micro(lambda: _Django.backend().has_perm(_Django(), "jobs.submit"))
    worst = max(seconds["person"], seconds["token"])
    return Row(
        "Permission check, warm, role of one's own in one of 21 teams (median of 15 rounds of "
        "20,000)",
        f"{raw:.2f} µs: one word in a set",
        f"{peer:.2f} µs: Django's has_perm, cached",
        f"person {seconds['person']:.2f} µs, token {seconds['token']:.2f} µs; teams where "
        f"allowed {seconds['teams']:.2f} µs;"
        f" the whole explanation {seconds['why']:.1f} µs",
        f"≤ {TARGET:.0f} µs",
        worst <= TARGET,
    )


class _Django:
    """Check a permission with Django's backend and cached permissions."""

    is_active, is_anonymous, _perm_cache = True, False, frozenset({"jobs.submit"})

    @staticmethod
    def backend() -> Any:
        from django.contrib.auth.backends import ModelBackend

        return ModelBackend()


def _micro(call: Callable[[], object]) -> float:
    """Return the median microseconds of one call."""
    call()
    return median(_round(call) for _ in range(ROUNDS)) * 1e6


def _round(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    for _ in range(CHECKS):
        call()
    return (time.perf_counter() - began) / CHECKS


if __name__ == "__main__":
    main()
