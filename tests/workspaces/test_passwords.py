"""Passwords: allowed characters, common words, changes, hashing and rate limits."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.contrib.auth.hashers import PBKDF2PasswordHasher, get_hasher
from django.core.cache import cache
from django.test import Client

from portal import settings as ours
from portal.core import clock
from tests.each import each
from tests.rig.environment import ROOT
from tests.story import PASSWORD
from workspaces.models import User

FORMS = ["/accounts/login/", "/accounts/password/change/", "/accounts/reauthenticate/"]


@pytest.fixture(autouse=True)
def no_counts_of_other_tests(db):
    cache.clear()


def lets_in(user: User, password: str) -> bool:
    return (
        Client().post("/accounts/login/", {"login": user.email, "password": password}).status_code
        == 302
    )


def changed(story, new: str, old: str = PASSWORD) -> bool:
    answer = story.client(story.ada).post(
        "/accounts/password/change/", {"oldpassword": old, "password1": new, "password2": new}
    )
    return answer.status_code == 302


def test_password_change_requires_current_password(story):
    for wrong in ("", "wrong", PASSWORD.upper(), PASSWORD + " "):
        assert not changed(story, "another one entirely", wrong)
    assert lets_in(story.ada, PASSWORD)
    assert changed(story, "another one entirely")
    assert lets_in(story.ada, "another one entirely") and not lets_in(story.ada, PASSWORD)


@each(
    "password",
    [
        "  two spaces before and after  ",
        "비밀번호는 아무거나 됩니다",
        "🔑🔒🗝️🔏🔐 keys and locks",
        "'; DROP TABLE users; --",
        "<script>alert(1)</script>",
        '{{ 7 * 7 }} %s {0} \\ "',
        "alllowercaselettersandnothingelse",
        "x9" + "long " * 40,
        "!!##$$%%&&//(())==",
    ],
)
def test_password_allows_any_characters_unchanged(story, password):
    story.ada.refresh_from_db()
    assert changed(story, password)
    assert lets_in(story.ada, password)
    others = {
        password.strip(),
        password.upper(),
        password[:-1],
        password[:72],
        password.replace("<", "&lt;"),
    } - {password}
    assert not any(lets_in(story.ben, other) or story.ada.check_password(other) for other in others)
    story.ada.refresh_from_db()
    assert story.ada.check_password(password) and not any(
        story.ada.check_password(other) for other in others
    )


@each(
    "password",
    [
        "Muster2026!!",
        "muster-muster-muster",
        "Ada@Atlas.example",
        "ATLAS-Atlas-1",
        "ada.atlas.muster",
        "ａｔｌａｓ２０２６!!",
        "GPU cluster 123",
        "password@atlas1",
    ],
)
def test_password_of_common_words_is_rejected(story, password):
    assert not changed(story, password)
    assert changed(story, f"{password} and seven geese")


def test_password_never_expires(story):
    User.objects.filter(id=story.ada.id).update(
        date_joined=clock.now() - timedelta(days=4000),
        last_login=clock.now() - timedelta(days=4000),
    )
    browser = Client()
    assert (
        browser.post("/accounts/login/", {"login": story.ada.email, "password": PASSWORD})[
            "Location"
        ]
        == "/"
    )
    assert browser.get("/", follow=True).request["PATH_INFO"] == "/atlas/"


def test_password_input_is_masked_and_allows_paste(story):
    texts = [
        story.client(story.ada if "login" not in path else None).get(path).content.decode()
        for path in FORMS
    ]
    texts.append(Client().get(reset_link(story.ada), follow=True).content.decode())
    assert 'name="password1"' in texts[-1]
    texts += [path.read_text() for path in (ROOT / "templates").rglob("*.html")]
    fields = [
        tag
        for text in texts
        for tag in re.findall(r"<input[^>]*>", text)
        if re.search(r'name="\w*password\w*"', tag)
    ]
    assert len(fields) > 8
    assert [
        tag
        for tag in fields
        if 'type="password"' not in tag or "onpaste" in tag or "readonly" in tag
    ] == []


def test_password_hash_is_slow_and_upgraded_on_use(story, settings):
    settings.PASSWORD_HASHERS = ours.PASSWORD_HASHERS
    slow = get_hasher("default")
    assert (slow.algorithm, slow.iterations >= 600_000, slow.salt_entropy >= 128) == (
        "pbkdf2_sha256",
        True,
        True,
    )
    User.objects.filter(id=story.ada.id).update(
        password=PBKDF2PasswordHasher().encode(PASSWORD, "salt" * 6, 1000)
    )
    assert lets_in(story.ada, PASSWORD)
    story.ada.refresh_from_db()
    kept = slow.decode(story.ada.password)
    assert (
        kept["iterations"] == slow.iterations
        and kept["salt"] != "salt" * 6
        and PASSWORD not in story.ada.password
    )


def test_password_guessing_is_limited_except_owners_addresses(story):
    def answer(password, address):
        return Client(REMOTE_ADDR=address).post(
            "/accounts/login/", {"login": story.ben.email, "password": password}
        )

    assert answer(PASSWORD, "203.0.113.9").status_code == 302  # the owner's own address
    guesses = [answer(f"wrong {n}", f"198.51.100.{n // 3}").status_code for n in range(33)]
    assert guesses == [200] * 30 + [429] * 3
    refused = answer(PASSWORD, "198.51.100.77")
    assert (refused.status_code, refused["Retry-After"]) == (
        429,
        "300",
    ) and "Too many failed sign-in attempts for this account" in refused.content.decode()
    assert answer(PASSWORD, "203.0.113.9").status_code == 302
    browser = Client(REMOTE_ADDR="198.51.100.77")
    story.ben.refresh_from_db()
    # Access to the mailbox proves it is the owner
    at = browser.get(reset_link(story.ben), follow=True).request["PATH_INFO"]
    browser.post(at, {"password1": "seven geese on a pond", "password2": "seven geese on a pond"})
    assert answer("seven geese on a pond", "198.51.100.77").status_code == 302


def reset_link(user: User) -> str:
    return f"/accounts/password/reset/key/{user_pk_to_url_str(user)}-{default_token_generator.make_token(user)}/"


@pytest.mark.both_databases
def test_password_guessing_limit_survives_cache_loss(story):
    def answer(email, password, address="198.51.100.7"):
        return Client(REMOTE_ADDR=address).post(
            "/accounts/login/", {"login": email, "password": password}
        )

    for guess in range(12):
        # Many users share that address
        assert answer(f"nobody{guess}@atlas.example", "wrong").status_code == 200
    for guess in range(5):
        answer(story.ben.email, f"wrong {guess}")
    for port, email in enumerate(
        [story.ben.email.upper(), "\uff42" + story.ben.email[1:], story.ben.email], 8000
    ):
        spelled = Client(REMOTE_ADDR="198.51.100.7").post(
            "/accounts/login/",
            {"login": email, "password": PASSWORD},
            HTTP_HOST=f"localhost:{port}",
        )
        assert spelled.status_code == 200, "port and spelling do not make another account"
    codes = [
        Client(REMOTE_ADDR="198.51.100.8").post(
            "/identity/o/api/device/code",
            "client_id=muster-cli",
            content_type="application/x-www-form-urlencoded",
        )
        for _ in range(31)
    ]
    assert {code.status_code for code in codes[:30]} == {200} and (
        codes[30].status_code,
        codes[30]["Retry-After"],
    ) == (429, "60")
    cache.clear()  # simulates eviction, or an outage of Redis
    assert "Wait five minutes" in answer(story.ben.email, PASSWORD).content.decode()
    # Guesses by others do not lock the owner out
    assert answer(story.ben.email, PASSWORD, "203.0.113.9").status_code == 302
    assert answer(story.ada.email, PASSWORD).status_code == 302  # nor users at the same address
