"""rotate_secrets re-encrypts everything, can be interrupted, and reports unreadable secrets."""

from __future__ import annotations

from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from allauth.mfa.utils import decrypt
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import models

from clusters.backends import sealed, secrets_of
from clusters.models import Cluster
from portal.core import vault
from workspaces.credentials.secrets import set_secret
from workspaces.management.commands import rotate_secrets
from workspaces.models import SecretVersion
from workspaces.models.secrets import PURPOSE
from workspaces.tenancy.scope import org_scope, platform_scope

OLD, NEW = "the old key, long enough to be one", "the new key, long enough to be one"


@pytest.fixture
def kept(story, settings):
    """Create five secrets and a cluster's under the old key, then set a new key with a fallback."""
    settings.SECRET_KEY = OLD
    with org_scope(story.atlas.id):
        for n in range(5):
            set_secret(
                actor=story.actor(story.ada),
                org=story.atlas,
                team=story.vision,
                name=f"s{n}",
                value=f"value {n}",
            )
    Cluster.objects.create(name="far", backend="slurm", secrets=sealed({"token": "t0ken"}))
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    return story


def run(**options) -> str:
    out = StringIO()
    call_command("rotate_secrets", stdout=out, **options)
    return out.getvalue()


def values() -> set[str]:
    with platform_scope("test"):
        return {vault.decrypt(row.sealed, PURPOSE).decode() for row in SecretVersion.objects.all()}


def test_rotate_secrets_makes_old_key_unnecessary(kept, settings):
    output = run(batch=2)
    assert (
        "workspaces.SecretVersion.sealed: 5 re-encrypted" in output
        and "clusters.Cluster.secrets: 1 re-encrypted" in output
    )
    settings.SECRET_KEY_FALLBACKS = []
    assert values() == {f"value {n}" for n in range(5)}
    assert secrets_of(Cluster.objects.get(name="far")) == {"token": "t0ken"}


def test_rotate_secrets_is_idempotent(kept):
    run()
    with platform_scope("test"):
        before = set(SecretVersion.objects.values_list("id", "sealed"))
    assert "5 already up to date" in run()
    with platform_scope("test"):
        assert set(SecretVersion.objects.values_list("id", "sealed")) == before


def test_rotate_secrets_interrupted_resumes(kept, settings, monkeypatch):
    real, calls = vault.rotate, []

    def fails(stored, purpose):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(stored, purpose)

    monkeypatch.setattr(rotate_secrets.vault, "rotate", fails)
    with pytest.raises(KeyboardInterrupt):
        run(batch=2)
    run(batch=2)
    settings.SECRET_KEY_FALLBACKS = []
    assert len(values()) == 5


def test_rotate_secrets_dry_run_only_counts(kept, settings):
    assert "5 to re-encrypt" in run(dry_run=True)
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(vault.Unreadable):
        values()


def test_rotate_secrets_unreadable_row_is_reported_others_done(kept, settings):
    with platform_scope("test"):
        broken = SecretVersion.objects.order_by("id").first()
        SecretVersion.objects.filter(id=broken.id).update(sealed=b"nonsense")
    with pytest.raises(CommandError, match="1 could not be read"):
        run()
    with platform_scope("test"):
        assert sum(vault.is_newest(row.sealed, PURPOSE) for row in SecretVersion.objects.all()) == 4


def test_rotate_secrets_covers_second_factors(kept, settings):
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OLD, []
    app, codes = (
        TOTP.activate(kept.ada, "JBSWY3DPEHPK3PXP"),
        RecoveryCodes.activate(kept.ada).generate_codes(),
    )
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    assert (
        "second factors: 2 re-encrypted" in run()
        and "second factors: 0 re-encrypted, 2 already" in run()
    )
    settings.SECRET_KEY_FALLBACKS = []
    app.instance.refresh_from_db()
    assert decrypt(app.instance.data["secret"]) == "JBSWY3DPEHPK3PXP"
    assert RecoveryCodes(Authenticator.objects.get(type="recovery_codes")).generate_codes() == codes


def test_binary_fields_declare_encryption():
    """Check that every encrypted field is declared in SEALED: rotation would lose it otherwise."""
    fields = {
        f"{m._meta.label}.{f.name}"
        for m in apps.get_models()
        for f in m._meta.concrete_fields
        if isinstance(f, models.BinaryField)
    }
    named = {f"{model._meta.label}.{field}" for model, field, _ in rotate_secrets.sealed_fields()}
    assert (
        named <= fields and {"workspaces.SecretVersion.sealed", "clusters.Cluster.secrets"} <= named
    )
    # digests, names and hashes of files; metric series are not secret
    plain = {
        "datasets.Block.data",
        "datasets.Xorb.chunks",
        "datasets.Xorb.places",
        "jobs.JobOutput.seen",
        "core.AuditLink.hash",
        "core.AuditAnchor.hash",
        "core.AuditAnchor.mac",
    }
    assert {name for name in fields - named - plain if not name.startswith("series.")} == set()
