"""Reject passwords made of guessable words about the person or portal (docs/security-policy.md)."""

from __future__ import annotations

import re
import unicodedata
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from workspaces.models import Membership
from workspaces.tenancy.scope import platform_scope

LEFT = 6  # letters and digits that must remain without those words
SHORTEST = 3  # shorter words occur in any text
OURS = {"muster", "password", "passwort", "login", "admin", "gpu", "slurm", "cluster"}


class NoKnownWords:
    """Ignore personal and site words: the name, the address, the organizations, the portal's host.

    The rest of the password must be long enough by itself.
    """

    def validate(self, password: str, user: Any = None) -> None:
        whole = left = folded(password)
        for word in sorted(personal_words(user), key=len, reverse=True):
            left = left.replace(word, "")
        if left != whole and len(re.sub(r"[\W_]", "", left)) < LEFT:
            raise ValidationError(self.get_help_text(), code="password_of_known_words")

    def get_help_text(self) -> str:
        return _(
            "Choose a password that contains more than your name, your e-mail address, your "
            "organization's name and words like “muster”."
        )


def personal_words(user: Any) -> set[str]:
    """Return words about the user and the portal, case-folded, without very short ones."""
    texts = [*OURS, urlsplit(settings.MUSTER_BASE_URL).hostname or ""]
    if user is not None:
        texts += [user.email, getattr(user, "name", "")]
        with platform_scope("names of a user's organizations, for password rules"):
            texts += [
                text
                for row in Membership.objects.filter(user_id=user.pk).values_list(
                    "org__slug", "org__name"
                )
                for text in row
            ]
    return {
        word
        for text in texts
        for word in re.split(r"[\W_]+", folded(text))
        if len(word) >= SHORTEST
    }


def folded(text: str) -> str:
    """Return a text in the form in which words are compared."""
    return unicodedata.normalize("NFKC", text).casefold()
