"""Second factors: setup, sign-in, single use, and organizations that require them."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from unittest import mock

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.core.cache import cache
from django.test import Client

from monitoring.live.topics import grant
from portal.core import vault
from portal.core.errors import Conflict, NotPermitted
from portal.core.models import Event
from tests.each import each
from tests.stand_in import StandIn
from tests.story import PASSWORD
from tests.workspaces.test_passwords import reset_link
from workspaces.access.actors import ONLY_ORG, actor_of
from workspaces.credentials.service_accounts import (
    create_service_account,
    create_service_token,
)
from workspaces.credentials.token_format import authenticate_token
from workspaces.credentials.tokens import Bearer, TokenParams, issue_attempt_tokens
from workspaces.identity.mfa import PURPOSE
from workspaces.models import Membership, SpentCode, User
from workspaces.organizations.services import add_member, require_second_factor
from workspaces.tenancy.scope import no_scope, org_scope, platform_scope

KEY = totp.generate_totp_secret()


@pytest.fixture(autouse=True)
def no_counts_of_other_tests(db):
    cache.clear()


@contextmanager
def at(seconds: float):
    """Advance the clock of the code check by some seconds."""
    real = time.time
    with mock.patch.object(totp, "time", StandIn(time, time=lambda: real() + seconds)):
        yield


def code() -> str:
    return totp.format_hotp_value(totp.hotp_value(KEY, int(totp.time.time()) // 30))


def with_app(user: User) -> User:
    totp.TOTP.activate(user, KEY)
    user.refresh_from_db()
    return user


def signing_in(user: User, browser: Client | None = None):
    browser = browser or Client()
    answer = browser.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    return browser, answer


def is_in(browser: Client) -> bool:
    return browser.get("/atlas/teams").status_code == 200


def test_sign_in_with_factor_asks_for_code(story):
    with_app(story.ada)
    browser, answer = signing_in(story.ada)
    assert answer["Location"] == "/accounts/2fa/authenticate/" and not is_in(browser)
    assert b"Two-factor authentication" in browser.get(answer["Location"]).content
    browser.post("/accounts/2fa/authenticate/", {"code": "000000"})
    assert not is_in(browser)
    browser.post("/accounts/2fa/authenticate/", {"code": code()})
    assert is_in(browser)


def test_code_is_single_use_even_after_cache_loss(story):
    with_app(story.ada)
    used = code()
    first, _ = signing_in(story.ada)
    first.post("/accounts/2fa/authenticate/", {"code": used})
    assert is_in(first)
    for later in (0, 29):
        cache.clear()
        second, _ = signing_in(story.ada)
        with at(later):
            second.post("/accounts/2fa/authenticate/", {"code": f"{used[:3]} {used[3:]}"})
        assert not is_in(second)
    assert SpentCode.objects.count() == 1
    with at(60):
        second.post("/accounts/2fa/authenticate/", {"code": code()})
    assert is_in(second)


def test_wrong_codes_block_correct_code(story):
    with_app(story.ada)
    browser, _ = signing_in(story.ada)
    for wrong in range(6):
        browser.post("/accounts/2fa/authenticate/", {"code": f"00000{wrong}"})
    browser.post("/accounts/2fa/authenticate/", {"code": code()})
    assert not is_in(browser)


def test_recovery_code_is_single_use(story):
    codes = RecoveryCodes.activate(with_app(story.ada)).generate_codes()
    for expected in (True, False):
        browser, _ = signing_in(story.ada)
        browser.post("/accounts/2fa/authenticate/", {"code": codes[0]})
        assert is_in(browser) == expected


def test_factor_setup_shows_recovery_codes_and_ends_sessions(
    story, django_capture_on_commit_callbacks
):
    other, _ = signing_in(story.ada)
    browser, _ = signing_in(story.ada)
    assert is_in(other) and is_in(browser)
    assert browser.get("/accounts/2fa/totp/activate/")["Location"].startswith(
        "/accounts/reauthenticate/"
    )
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    page = browser.get("/accounts/2fa/totp/activate/").content.decode()
    key = re.search(r'id="authenticator_secret">([A-Z2-7]+)<', page)[1]
    now = totp.format_hotp_value(totp.hotp_value(key, int(time.time()) // 30))
    with django_capture_on_commit_callbacks(execute=True):
        answer = browser.post("/accounts/2fa/totp/activate/", {"code": now})
    assert answer["Location"] == "/accounts/2fa/recovery-codes/", answer.content.decode()[-2000:]
    codes = re.findall(r"\b\d{8}\b", browser.get(answer["Location"]).content.decode())
    assert len(codes) == 10
    assert not set(codes) & set(
        re.findall(r"\b\d{8}\b", browser.get(answer["Location"]).content.decode())
    )
    assert is_in(browser) and not is_in(other)
    assert User.objects.get(id=story.ada.id).has_second_factor
    assert {("second_factor.added", story.atlas.id), ("session.ended", story.atlas.id)} <= set(
        Event.objects.values_list("kind", "org_id")
    )


def test_factor_keys_are_encrypted(story):
    RecoveryCodes.activate(with_app(story.ada))
    stored = Authenticator.objects.get(type="totp").data["secret"]
    assert KEY not in str(list(Authenticator.objects.values_list("data", flat=True)))
    assert vault.decrypt(stored.encode(), PURPOSE).decode() == KEY


def test_has_second_factor_follows_setup_and_removal(story):
    with_app(story.ada)
    RecoveryCodes.activate(story.ada)
    assert User.objects.get(id=story.ada.id).has_second_factor
    Authenticator.objects.filter(type="totp").delete()
    # Recovery codes alone do not count
    assert not User.objects.get(id=story.ada.id).has_second_factor


@pytest.fixture
def strict(story):
    """Atlas requires a second factor; Ada has one, Ben has none."""
    with_app(story.ada)
    with org_scope(story.atlas.id):
        require_second_factor(actor=story.actor(story.ada), org=story.atlas, is_required=True)
    return story


def test_strict_org_redirects_to_factor_setup(strict):
    browser = strict.client(strict.ben)
    answer = browser.get("/atlas/teams")
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/2fa/")
    page = browser.get("/accounts/2fa/").content.decode()
    assert "requires a second factor" in page and "/accounts/2fa/totp/activate/" in page
    assert (
        'class="note warn" role="status"' in page and 'class="note good" role="status"' not in page
    )
    with_app(strict.ben)
    assert browser.get("/atlas/teams").status_code == 200


def test_strict_org_denies_tokens_with_reason(story, request):
    secret = story.token(story.ben)
    strict = request.getfixturevalue("strict")
    api = Client(headers={"Authorization": f"Bearer {secret}"})
    for answer in (
        api.get("/api/v1/orgs/atlas/teams"),
        strict.client(strict.ben).get("/api/v1/orgs/atlas/teams"),
    ):
        assert answer.status_code == 403
        assert (
            answer.json()["code"] == "second_factor_required"
            and "passkey" in answer.json()["detail"]
        )
    assert api.get("/api/v1/me").status_code == 200
    with_app(strict.ben)
    assert api.get("/api/v1/orgs/atlas/teams").status_code == 200


def test_strict_org_denies_websockets(strict):
    with no_scope(), pytest.raises(NotPermitted):
        grant(actor_of(strict.ben), f"jobs:{strict.atlas.id.hex}")


def test_strict_org_allows_service_accounts_and_running_jobs(strict):
    with org_scope(strict.atlas.id):
        ada = strict.actor(strict.ada)
        row = create_service_account(actor=ada, org=strict.atlas, name="nightly")
        secret = create_service_token(
            actor=ada, account=row, params=TokenParams("ci", ["all"])
        ).secret
    with platform_scope("test"):
        [job] = issue_attempt_tokens(
            [Bearer(strict.atlas.id, strict.vision.id, strict.ben.id, strict.ben.id, "job #1")]
        )
    with no_scope():
        for raw in (secret, job):
            assert authenticate_token(raw).enter(strict.atlas).org_id == strict.atlas.id


def test_strict_org_applies_to_operators_but_not_other_orgs(strict):
    with no_scope():
        assert strict.actor(strict.cyd).org_id == strict.borealis.id
        with pytest.raises(NotPermitted):
            strict.actor(strict.dot)


def test_require_second_factor_without_own_factor_is_conflict(story):
    with org_scope(story.atlas.id):
        with pytest.raises(Conflict):
            require_second_factor(actor=story.actor(story.ada), org=story.atlas, is_required=True)
        Membership.objects.filter(user=story.ben).update(role="admin")
        with pytest.raises(NotPermitted):
            require_second_factor(
                actor=story.actor(with_app(story.ben)), org=story.atlas, is_required=True
            )


def test_removing_last_factor_denies_next_request(strict):
    browser = strict.client(strict.ada)
    assert browser.get("/atlas/teams").status_code == 200
    Authenticator.objects.all().delete()
    assert browser.get("/atlas/teams")["Location"] == "/accounts/2fa/"


@each(
    ("person", "path", "is_shut"),
    [
        ("ben", "/accounts/2fa/", True),
        ("ben", "/accounts/sessions/", True),
        ("ben", "/accounts/password/change/", True),
        ("ben", "/atlas/teams", False),
        ("sam", "/accounts/2fa/", True),
        ("sam", "/accounts/sessions/", False),
    ],
)
def test_org_provider_session_cannot_change_factors(story, person, path, is_shut):
    """Check that administrators of a provider cannot add their own factor to an account."""
    with org_scope(story.atlas.id):
        sam = add_member(
            actor=story.actor(story.ada), org=story.atlas, email="sam@atlas.example"
        ).user
    browser = story.client(sam if person == "sam" else story.ben)
    session = browser.session
    session[ONLY_ORG] = str(story.atlas.id)
    session.save()
    assert (browser.get(path).status_code == 403) == is_shut


def test_org_provider_session_needs_no_second_factor(strict):
    browser = strict.client(strict.ben)
    session = browser.session
    session[ONLY_ORG] = str(strict.atlas.id)
    session.save()
    assert browser.get("/atlas/teams").status_code == 200


def test_password_reset_still_requires_second_factor(story):
    with_app(story.ada)
    browser = Client()
    page = browser.get(reset_link(story.ada), follow=True)
    done = browser.post(
        page.request["PATH_INFO"],
        {"password1": "another one entirely", "password2": "another one entirely"},
    )
    assert done.status_code == 302 and not is_in(browser)
    assert browser.post(
        "/accounts/login/", {"login": story.ada.email, "password": "another one entirely"}
    )["Location"].endswith("/2fa/authenticate/")
    assert not is_in(browser)


@each(("late", "lets_in"), [(0, True), (25, True), (90, False), (-90, False), (3600, False)])
def test_code_is_valid_for_adjacent_time_steps(story, late, lets_in):
    with_app(story.ada)
    browser, _ = signing_in(story.ada)
    given = code()
    with at(late):
        browser.post("/accounts/2fa/authenticate/", {"code": given})
    assert is_in(browser) == lets_in


def test_seeds_and_codes_have_enough_entropy(story):
    seeds = {totp.generate_totp_secret() for _ in range(50)}
    assert len(seeds) == 50 and all(len(seed) * 5 >= 160 for seed in seeds)
    codes = RecoveryCodes.activate(with_app(story.ada)).generate_codes()
    assert len(set(codes)) == len(codes) >= 10 and all(
        re.fullmatch(r"[0-9a-f]{8}", one) for one in codes
    )  # 32 bits
    assert re.fullmatch(r"\d{6}", code())  # 20 bits, for a minute


CHANGES = [
    "/accounts/2fa/totp/activate/",
    "/accounts/2fa/totp/deactivate/",
    "/accounts/2fa/webauthn/add/",
    "/accounts/2fa/recovery-codes/generate/",
]


@each("path", CHANGES)
def test_changing_factors_requires_reauthentication(story, path):
    if "totp/activate" not in path:
        with_app(story.ada)
        RecoveryCodes.activate(story.ada)
    browser = story.client(story.ada)
    before = list(Authenticator.objects.order_by("pk").values())
    for answer in (browser.get(path), browser.post(path, {"code": "000000"})):
        assert answer.status_code == 302 and "reauthenticate" in answer["Location"], path
    assert list(Authenticator.objects.order_by("pk").values()) == before
