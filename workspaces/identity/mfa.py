"""Second factors by allauth: secrets are encrypted and codes are valid once.

The user's row records whether they have a second factor.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from django.db import IntegrityError, transaction

from portal.core import clock, vault
from workspaces.models import SpentCode, User

PURPOSE = "second factors"
MAIN = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)  # recovery codes alone do not count
_REMEMBERED = timedelta(minutes=5)  # longer than a code is valid


class Adapter(DefaultMFAAdapter):
    """Encrypt TOTP keys and the seeds of recovery codes with the portal's vault."""

    def encrypt(self, text: str) -> str:
        return vault.encrypt(text.encode(), PURPOSE).decode("ascii")

    def decrypt(self, encrypted_text: str) -> str:
        return vault.decrypt(encrypted_text.encode("ascii"), PURPOSE).decode()

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """Send nothing, so that a failing mail server blocks nobody; events record the change."""


class SingleUseCodeMixin:
    """Reject a TOTP code that was already used, while it would still be valid.

    Uses the database, as a cache may lose entries.
    """

    user: Any
    authenticator: Authenticator

    def clean_code(self) -> str:
        code: str = super().clean_code()  # type: ignore[misc]
        if self.authenticator.type == Authenticator.Type.TOTP and not use_code(self.user, code):
            raise Adapter().validation_error("incorrect_code")
        return code


class SecondFactorForm(SingleUseCodeMixin, AuthenticateForm):
    """The form after the password."""


class ConfirmForm(SingleUseCodeMixin, ReauthenticateForm):
    """The form before a change of sign-in methods."""


def use_code(user: User, code: str) -> bool:
    """Mark a code as used; return False if it already was."""
    SpentCode.objects.filter(user=user, at__lt=clock.now() - _REMEMBERED).delete()
    digest = hashlib.sha256("".join(code.split()).encode()).hexdigest()
    try:
        with transaction.atomic():
            SpentCode.objects.create(user=user, digest=digest)
    except IntegrityError:
        return False
    return True


def update_has_second_factor(user_id: Any) -> None:
    """Store in the user's row whether they have a second factor, as every request checks it."""
    has = Authenticator.objects.filter(user_id=user_id, type__in=MAIN).exists()
    User.objects.filter(id=user_id).update(has_second_factor=has)


def rotate_second_factors(*, is_dry: bool = False) -> Iterator[str]:
    """Re-encrypt all secrets with the newest key of the vault.

    Yields "anew", "newest" or "unreadable" for each row. A row changed concurrently is left for the
    next run.
    """
    for row in (
        Authenticator.objects.exclude(type=Authenticator.Type.WEBAUTHN).order_by("pk").iterator()
    ):
        name = "secret" if row.type == Authenticator.Type.TOTP else "seed"
        stored = str(row.data.get(name, "")).encode("ascii", "replace")
        if vault.is_newest(stored, PURPOSE):
            yield "newest"
            continue
        try:
            fresh = vault.rotate(stored, PURPOSE).decode("ascii")
        except vault.Unreadable:
            yield "unreadable"
            continue
        if not is_dry:
            Authenticator.objects.filter(pk=row.pk, data=row.data).update(
                data={**row.data, name: fresh}
            )
        yield "anew"
