"""The story of the tests: Ada owns Atlas, Ben is in Vision, Cyd is in Borealis, Dot operates."""

from __future__ import annotations

from dataclasses import dataclass

from django.test import Client

from workspaces.access.actors import Actor, actor_of
from workspaces.credentials.tokens import create_token
from workspaces.models import Organization, Team, User
from workspaces.organizations.services import (
    add_member,
    add_team_member,
    create_org,
    create_team,
)
from workspaces.tenancy.scope import no_scope, org_scope

PASSWORD = "the story's own password"


@dataclass(frozen=True)
class Story:
    """The people (`ada` … `dot`), organizations and teams of the tests.

    `actor(person)` is the actor for that user; `client(person)` is a signed-in browser.
    """

    ada: User
    ben: User
    cyd: User
    dot: User
    atlas: Organization
    borealis: Organization
    vision: Team  # of Atlas: Ada leads it, Ben is a member
    speech: Team  # of Atlas: only Ada
    north: Team  # of Borealis: Cyd

    def actor(self, person: User, org: Organization | None = None) -> Actor:
        """Return the actor in an organization (default: Atlas; Borealis for Cyd)."""
        return actor_of(person).enter(org or (self.borealis if person == self.cyd else self.atlas))

    def client(self, person: User | None = None) -> Client:
        """Return a browser, signed in as that user if given."""
        client = Client()
        if person is not None:
            client.force_login(person)
        return client

    def token(
        self, person: User, org: Organization | None = None, *, scopes: tuple[str, ...] = ("all",)
    ) -> str:
        """Return a new access token."""
        actor = self.actor(person, org)
        where = Organization.objects.get(id=actor.org_id)
        with org_scope(where.id):
            return create_token(actor=actor, org=where, name="story", scopes=list(scopes)).secret

    def api(
        self, person: User, org: Organization | None = None, *, scopes: tuple[str, ...] = ("all",)
    ) -> Client:
        """Return an API client with an access token of that user."""
        return Client(headers={"Authorization": f"Bearer {self.token(person, org, scopes=scopes)}"})


def prove(client: Client) -> None:
    """Confirm the password again, as required before changes to sign-in methods."""
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})


def create_story() -> Story:
    """Create everybody with the services."""
    with no_scope():
        ada, ben, cyd, dot = (
            _person(name) for name in ("ada@atlas", "ben@atlas", "cyd@borealis", "dot@platform")
        )
        operator = actor_of(dot)
        atlas = create_org(actor=operator, slug="atlas", name="Atlas", owner=ada)
        borealis = create_org(actor=operator, slug="borealis", name="Borealis", owner=cyd)
    with org_scope(atlas.id):
        owner = actor_of(ada).enter(atlas)
        add_member(actor=owner, org=atlas, email=ben.email, has_agreed=True)
        vision = create_team(actor=owner, org=atlas, slug="vision", name="Vision")
        speech = create_team(actor=owner, org=atlas, slug="speech", name="Speech")
        add_team_member(actor=actor_of(ada).enter(atlas), team=vision, email=ben.email)
    with org_scope(borealis.id):
        north = create_team(
            actor=actor_of(cyd).enter(borealis), org=borealis, slug="north", name="North"
        )
    return Story(ada, ben, cyd, dot, atlas, borealis, vision, speech, north)


def _person(address: str) -> User:
    name = address.partition("@")[0].capitalize()
    is_operator = name == "Dot"
    return User.objects.create_user(
        f"{address}.example", PASSWORD, name=name, is_operator=is_operator
    )
