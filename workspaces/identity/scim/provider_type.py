"""SCIM as a kind of provider by itself: people are told of, and sign in otherwise. OpenID and SAML providers may have SCIM besides."""

from __future__ import annotations

from dataclasses import dataclass

from workspaces.identity.provider_types import Found, Kind


@dataclass(frozen=True)
class Config:
    """Nothing is set: the other side comes with a token."""


def _test(config: Config) -> Found:
    return Found(
        True,
        "There is nothing to ask: the other side comes here by itself, with the token that its page gives.",
    )


SCIM = Kind(
    "scim",
    "SCIM 2.0",
    "Your identity provider tells Muster of people and groups as they change; they sign in by another provider "
    "that they link, or by a password.",
    Config,
    _test,
)
