"""Words that a password is not made of: what anybody can guess who knows the person and where they work (docs/security-policy.md)."""

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

LEFT = 6  # letters and digits that must be left of a password without those words
SHORTEST = 3  # shorter words are in everything
OURS = {"muster", "password", "passwort", "login", "admin", "gpu", "slurm", "cluster"}


class NoKnownWords:
    """The person's name and address, their organizations, this portal's name and host: what is left without them must do for itself."""

    def validate(self, password: str, user: Any = None) -> None:
        whole = left = folded(password)
        for word in sorted(words_about(user), key=len, reverse=True):
            left = left.replace(word, "")
        if left != whole and len(re.sub(r"[\W_]", "", left)) < LEFT:
            raise ValidationError(self.get_help_text(), code="password_of_known_words")

    def get_help_text(self) -> str:
        return _(
            "Without your name, your address, your organization's name and words like “muster” too little of this password is left to guess."
        )


def words_about(user: Any) -> set[str]:
    """Folded, longer than a syllable."""
    texts = [*OURS, urlsplit(settings.MUSTER_BASE_URL).hostname or ""]
    if user is not None:
        texts += [user.email, getattr(user, "name", "")]
        with platform_scope("words that a person's password is not made of"):
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
    return unicodedata.normalize("NFKC", text).casefold()
