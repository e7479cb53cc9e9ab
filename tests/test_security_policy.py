"""docs/security-policy.md matches the code: figures, models, locks and logs."""

from __future__ import annotations

import ast
import importlib
import re
from typing import Any

from django.apps import apps
from django.conf import settings

from portal import settings as ours
from portal.core.audit import anchors
from tests.rig.environment import ROOT
from tests.test_security_rules import PRIMITIVES
from workspaces.identity import mfa, password_rules

SSH = {"Ed25519PrivateKey", "SSHCertificateBuilder"}
TEXT = (ROOT / "docs/security-policy.md").read_text()
FIGURES = re.findall(r"^\| [^|]+ \| `([^`]+)` \| `([^`]+)` \|$", TEXT, re.MULTILINE)


def section(name: str) -> str:
    return re.split(r"^## ", TEXT.split(f"## {name}\n")[1], flags=re.MULTILINE)[0]


def value_of(name: str) -> Any:
    """Return the value of `SETTING`, `SETTING["key"]` or `module:CONSTANT`."""
    if ":" in name:
        module, _, constant = name.partition(":")
        return getattr(importlib.import_module(module), constant)
    setting, _, key = name.partition("[")
    value = getattr(ours, setting)
    return value[ast.literal_eval(key.rstrip("]"))] if key else value


def test_policy_figures_match_the_settings():
    assert [
        (name, result, value_of(name)) for name, result in FIGURES if str(value_of(name)) != result
    ] == []


def test_policy_lists_every_rate_limit_on_guessing():
    named = {name for name, _ in FIGURES}
    limits = {
        f'{setting}["{key}"]'
        for setting in ("ACCOUNT_RATE_LIMITS", "IDP_OIDC_RATE_LIMITS")
        for key in getattr(ours, setting)
    }
    assert limits <= named and len(FIGURES) >= 19
    assert {
        "MUSTER_SESSION_HOURS",
        "MUSTER_SESSION_IDLE_HOURS",
        "IDP_OIDC_REFRESH_TOKEN_EXPIRES_IN",
    } <= named


def test_policy_password_rules_match_validators():
    text = section("Passwords")
    [least] = [
        row["OPTIONS"]["min_length"]
        for row in settings.AUTH_PASSWORD_VALIDATORS
        if "min_length" in row.get("OPTIONS", {})
    ]
    assert (
        f"At least {least} characters" in text
        and f"{password_rules.LEFT} letters\nor digits" in text
    )
    assert {word for word in password_rules.OURS if f"`{word}`" not in text} == set()
    assert {row["NAME"].rpartition(".")[2] for row in settings.AUTH_PASSWORD_VALIDATORS} == {
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NoKnownWords",
    }


def test_policy_classifies_every_model_once():
    found = re.findall(
        r"`(\w+)`",
        " ".join(
            line.split("|")[3]
            for line in section("Data").splitlines()
            if line.startswith("| ") and "`" in line
        ),
    )
    assert sorted(found) == sorted({model.__name__ for model in apps.get_models()})


def test_policy_classifies_encrypted_fields_as_secret():
    [row] = [line for line in section("Data").splitlines() if line.startswith("| Secret |")]
    sealed = {model.__name__ for model in apps.get_models() if getattr(model, "SEALED", None)}
    assert len(sealed) >= 5 and {name for name in sealed if f"`{name}`" not in row} == set()


def test_policy_inventory_lists_all_imported_cryptography():
    text = section("Cryptography")
    kinds = {
        "Fernet",
        "HKDF",
        "rsa",
        "jwt",
        *(name.rpartition(".")[2] for name in settings.PASSWORD_HASHERS if "MD5" not in name),
    }
    assert {kind for kind in kinds if f"`{kind}`" not in text} == set()
    assert all(f"`{one}`" in text for one in SSH)
    last = {name.rpartition(".")[2] for name in PRIMITIVES}
    known = {
        "fernet",
        "InvalidToken",
        "MultiFernet",
        "primitives",
        "hashes",
        "hkdf",
        "asymmetric",
        "serialization",
        "Encoding",
        "NoEncryption",
        "PrivateFormat",
        "PublicFormat",
        "exceptions",
        "UnsupportedAlgorithm",
        "ed25519",
        "SSHCertificateType",
        "load_ssh_public_key",
    }
    assert last - known == {"Fernet", "HKDF", "rsa", "jwt", *SSH}  # additions must be documented
    assert [name.rpartition(".")[2] for name in ours.PASSWORD_HASHERS] == re.findall(
        r"`(\w+PasswordHasher)`", text
    )


def test_policy_lists_every_key_with_its_lifecycle():
    text = section("Keys")
    purposes = {
        purpose for model in apps.get_models() for purpose in getattr(model, "SEALED", {}).values()
    }
    assert len(purposes) >= 5
    assert {
        purpose
        for purpose in {*purposes, anchors.PURPOSE, mfa.PURPOSE}
        if f"`{purpose}`" not in text
    } == set()
    named = {
        constant
        for constant, _ in FIGURES
        if constant.startswith("workspaces.identity.oidc_provider.keys:")
    }
    assert named == {
        f"workspaces.identity.oidc_provider.keys:{name}"
        for name in ("BITS", "SIGNS", "AHEAD", "AFTER")
    }
    rows = [
        line.split("|")[1:-1]
        for line in text.splitlines()
        if line.startswith("| ") and line.count("|") == 5
    ]
    assert len(rows) == 6 and all(
        cell.strip() for row in rows for cell in row
    )  # with the header and its line


def test_policy_bounds_of_expensive_operations_match_code():
    text = section("Expensive")
    rows = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 9 and all(
        any(f"| `{name}` | `{value}` |" in row for name, value in FIGURES) for row in rows
    )


def test_user_sessions_are_unlimited_listed_and_revocable(story):
    assert "number of\nsessions of a person is not limited, they are listed" in section("Sessions")
    browsers = [story.client(story.ada) for _ in range(12)]
    assert [browser.get("/atlas/teams").status_code for browser in browsers] == [200] * 12
    page = browsers[0].get("/accounts/sessions/").content.decode()
    others = re.findall(r'name="id" value="([^"]+)"', page)
    assert len(others) == 11
    browsers[0].post("/accounts/sessions/", {"id": others[0]})
    assert sorted(browser.get("/atlas/teams").status_code for browser in browsers) == [200] * 11 + [
        302
    ]


def test_logs_go_to_documented_places_in_utc(monkeypatch):
    import logging
    import logging.config
    import time

    assert {row["class"] for row in ours.LOGGING["handlers"].values()} == {
        "logging.StreamHandler"
    } and "| `stderr` |" in section("Logs")
    monkeypatch.setenv("TZ", "Asia/Seoul")
    time.tzset()
    try:
        line = logging.config.DictConfigurator(ours.LOGGING).configure_formatter(
            dict(ours.LOGGING["formatters"]["line"])
        )
        record = logging.makeLogRecord(
            {
                "created": 1_700_000_000.25,
                "msecs": 250,
                "msg": "hello",
                "name": "jobs",
                "levelname": "INFO",
            }
        )
        assert line.format(record) == "2023-11-14T22:13:20.250Z INFO    jobs: hello"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_policy_has_update_deadlines_per_severity():
    text = section("Updates")
    days = [int(number) for number in re.findall(r": (\d+) days", text)]
    assert days == sorted(days) and len(days) == 3 and days[-1] <= 30
    assert all((ROOT / name).exists() for name in ("requirements/base.lock", "package-lock.json"))
