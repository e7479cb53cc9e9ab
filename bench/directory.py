"""Measure sign-in and sync with 10,000 people and 500 groups on a real slapd with StartTLS.

The raw limit of a sign-in is a plain bind and search.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

from bench.setting import begin
from bench.table import Row, report
from tests.rig.processes import Folder
from tests.rig.slapd import (
    READER,
    READER_PASSWORD,
    Slapd,
    crowd,
    group_dn,
    password_of,
    people_dn,
    start_slapd,
)

PEOPLE, GROUPS, SIGN_INS = 10_000, 500, 150


def main() -> int:
    folder = Folder()
    try:
        actor = begin(folder)
        slapd = start_slapd(folder, more=crowd(PEOPLE, GROUPS))
        report([*_sync(actor, slapd), *_sign_in(slapd)])
    finally:
        folder.close()
    return 0


def _sync(actor, slapd: Slapd) -> list[Row]:  # type: ignore[no-untyped-def]
    from dataclasses import replace

    from workspaces.identity.directory_sync import sync_provider
    from workspaces.identity.ldap.listing import list_everyone
    from workspaces.identity.provider_services import config_of, create_provider, set_rules
    from workspaces.models import Provider
    from workspaces.tenancy.scope import no_scope

    with no_scope():
        dot = replace(actor, is_operator=True)
        made = create_provider(
            actor=dot, org=None, kind="ldap", slug="corp", name="Corp", options=slapd.options()
        )
        org, team = _place(actor)
        set_rules(
            actor=dot,
            provider=made,
            rules=[
                *(
                    {"group": group_dn(f"team-{n}"), "org": org, "team": team, "role": "member"}
                    for n in range(0, 400, 2)
                ),
                {"group": "*", "org": org, "role": "member"},
            ],
        )
        listing, _, _ = _timed(lambda: list_everyone(config_of(made)))
        first, queries, _ = _timed(lambda: _done(sync_provider(actor=dot, provider=made)))
        again, queries_again, written_again = _timed(
            lambda: _done(sync_provider(actor=dot, provider=made))
        )
        assert Provider.objects.get(id=made.id).identities.count() >= PEOPLE
    whole = f"{PEOPLE:,} people and {GROUPS} groups"
    return [
        Row(
            f"sync of {whole}, all new",
            f"{listing:.1f} s to list them by LDAP",
            "–",
            f"{first:.1f} s",
            "≤ 30 s",
            first <= 30,
            f"{queries} statements, and three COPY for each thousand people",
        ),
        Row(
            "statements of that sync for 1,000 people",
            "–",
            "–",
            f"{queries / PEOPLE * 1000:.1f}",
            "≤ 20",
            queries / PEOPLE * 1000 <= 20,
        ),
        Row(
            f"sync of {whole}, nothing changed",
            f"{listing:.1f} s to list them by LDAP",
            "–",
            f"{again:.1f} s, {queries_again} statements",
            "no row of a person written",
            not written_again,
            "what is written: that somebody asked for it, the run's own row, its lease, when the "
            "directory was seen",
        ),
    ]


def _sign_in(slapd: Slapd) -> list[Row]:
    from django.contrib.auth import authenticate

    for n in range(5):
        authenticate(email=f"p{n}", password=password_of(f"p{n}"))
    ours, raw, peer = [], [], []
    for n in range(SIGN_INS):  # alternate, so that both see the same load
        uid = f"p{n * 13 % PEOPLE}"
        raw.append(_seconds(partial(_bare, slapd, uid)))
        peer.append(_seconds(partial(_django_auth_ldap, slapd, uid)))
        ours.append(_seconds(partial(authenticate, email=uid, password=password_of(uid))))
    base, usual, of_peer, of_ours = (
        _p95(raw),
        *(statistics.median(some) * 1000 for some in (raw, peer, ours)),
    )
    return [
        Row(
            "LDAP sign-in, p95, with groups in groups and roles",
            f"{base:.1f} ms bare: StartTLS, bind, search, bind as the person",
            f"{_p95(peer):.1f} ms django-auth-ldap, direct groups, no rows of ours",
            f"{_p95(ours):.1f} ms ({_p95(ours) / base:.1f} ×)",
            "≤ 3 × bare",
            _p95(ours) <= 3 * base,
            f"medians {of_ours:.1f} beside {usual:.1f} ms ({of_ours / usual:.1f} ×), peer "
            f"{of_peer:.1f}",
        )
    ]


def _bare(slapd: Slapd, uid: str) -> None:
    import ldap

    connection = ldap.initialize(slapd.url)
    connection.set_option(ldap.OPT_X_TLS_CACERTFILE, str(slapd.path / "ca.pem"))
    connection.set_option(ldap.OPT_X_TLS_NEWCTX, 0)
    connection.start_tls_s()
    connection.simple_bind_s(READER, READER_PASSWORD)
    ((dn, _),) = connection.search_s(
        slapd.options()["people_base"], ldap.SCOPE_SUBTREE, f"(uid={uid})"
    )
    connection.simple_bind_s(dn, password_of(uid))
    connection.unbind_s()


def _django_auth_ldap(slapd: Slapd, uid: str) -> None:
    import ldap
    from django_auth_ldap.backend import LDAPBackend, _LDAPUser
    from django_auth_ldap.config import GroupOfNamesType, LDAPSearch

    backend, options = LDAPBackend(), slapd.options()
    given = backend.settings
    given.SERVER_URI, given.START_TLS, given.BIND_DN, given.BIND_PASSWORD = (
        slapd.url,
        True,
        READER,
        READER_PASSWORD,
    )
    given.CONNECTION_OPTIONS = {
        ldap.OPT_X_TLS_CACERTFILE: str(slapd.path / "ca.pem"),
        ldap.OPT_X_TLS_NEWCTX: 0,
    }
    given.USER_SEARCH = LDAPSearch(options["people_base"], ldap.SCOPE_SUBTREE, "(uid=%(user)s)")
    given.GROUP_SEARCH = LDAPSearch(
        options["group_base"], ldap.SCOPE_SUBTREE, "(objectClass=groupOfNames)"
    )
    given.GROUP_TYPE = GroupOfNamesType()
    person = _LDAPUser(backend, username=uid)
    person._authenticate_user_dn(password_of(uid))
    assert person.dn == people_dn(uid) and person.group_dns


def _place(actor) -> tuple[str, str]:  # type: ignore[no-untyped-def]
    from workspaces.models import Organization, Team
    from workspaces.tenancy.scope import org_scope

    with org_scope(actor.org_id):
        return Organization.objects.get(id=actor.org_id).slug, Team.objects.first().slug


def _done(run) -> None:  # type: ignore[no-untyped-def]
    assert run.outcome in {"done", "unchanged"}, run.message


def _timed(act: Callable[[], object]) -> tuple[float, int, list[str]]:
    """Return seconds, statements, and statements that wrote to rows of people."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        seconds = _seconds(act)
    statements = [query["sql"] for query in queries.captured_queries]
    people = ("workspaces_user", "workspaces_identity", "membership", "accesstoken")
    return (
        seconds,
        len(statements),
        [
            sql
            for sql in statements
            if not sql.lstrip("( ").upper().startswith("SELECT")
            and any(name in sql for name in people)
        ],
    )


def _seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def _p95(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1] * 1000


if __name__ == "__main__":
    sys.exit(main())
