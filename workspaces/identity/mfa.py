"""Second factors, by allauth: keys at rest are encrypted, a code is used once, and people's rows say whether they have one."""

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
MAIN = (
    Authenticator.Type.TOTP,
    Authenticator.Type.WEBAUTHN,
)  # recovery codes alone are no second factor
_REMEMBERED = timedelta(minutes=5)  # longer than any code is good for


class Adapter(DefaultMFAAdapter):
    """The keys of authenticator apps and the seed of recovery codes, under the portal's vault."""

    def encrypt(self, text: str) -> str:
        return vault.encrypt(text.encode(), PURPOSE).decode("ascii")

    def decrypt(self, encrypted_text: str) -> str:
        return vault.decrypt(encrypted_text.encode("ascii"), PURPOSE).decode()

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """What happened is an event; a mail server that is away must not keep anybody from securing their account."""


class OnceMixin:
    """A code of an authenticator app that was used is refused for as long as it would still be good. By the database: no cache that
    forgets or is away lets it through."""

    user: Any
    authenticator: Authenticator

    def clean_code(self) -> str:
        code: str = super().clean_code()  # type: ignore[misc]
        if self.authenticator.type == Authenticator.Type.TOTP and not spend(self.user, code):
            raise Adapter().validation_error("incorrect_code")
        return code


class SignInForm(OnceMixin, AuthenticateForm):
    """After the password."""


class ConfirmForm(OnceMixin, ReauthenticateForm):
    """Before one changes how one signs in."""


def spend(user: User, code: str) -> bool:
    """Use it up; False when it was used before."""
    SpentCode.objects.filter(user=user, at__lt=clock.now() - _REMEMBERED).delete()
    digest = hashlib.sha256("".join(code.split()).encode()).hexdigest()
    try:
        with transaction.atomic():
            SpentCode.objects.create(user=user, digest=digest)
    except IntegrityError:
        return False
    return True


def note_factors(user_id: Any) -> None:
    """Write into the person's row whether they have a second factor now: doors read it with every request."""
    has = Authenticator.objects.filter(user_id=user_id, type__in=MAIN).exists()
    User.objects.filter(id=user_id).update(has_second_factor=has)


def rotate_factors(*, is_dry: bool = False) -> Iterator[str]:
    """Keys and seeds under the newest key of the vault: for each row "anew", "newest" or "unreadable". One that is used at this very
    moment is left for the next run."""
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
