"""manage.py create_token EMAIL --org ORG [--team TEAM] --scopes all"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.core.errors import PortalError
from workspaces.access.actors import actor_of
from workspaces.credentials.tokens import create_token
from workspaces.models import Organization, Team, User
from workspaces.tenancy.scope import org_scope


class Command(BaseCommand):
    help = "Print a new access token for a user, and nothing else."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--org", required=True)
        parser.add_argument("--team")
        parser.add_argument("--scopes", required=True, help="'all', or comma-separated permissions")
        parser.add_argument("--cluster", default="", help="of a node agent: whose nodes it reports")
        parser.add_argument("--days", type=int, default=90, help="days until it expires; 0: never")
        parser.add_argument("--name", default="created by manage.py create_token")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email=options["email"].lower(), is_active=True).first()
        org = Organization.objects.filter(slug=options["org"]).first()
        if user is None or org is None:
            raise CommandError(
                "There is no "
                f"{'user ' + options['email'] if user is None else 'organization ' + options['org']}."
            )
        try:
            self.stdout.write(_create(user, org, options))
        except PortalError as error:
            raise CommandError(error.message) from error


def _create(user: User, org: Organization, options: dict[str, Any]) -> str:
    actor = actor_of(user).enter(org)
    with org_scope(org.id):
        team = Team.objects.filter(slug=options["team"]).first() if options["team"] else None
        if options["team"] and team is None:
            raise CommandError(f"There is no team {options['team']!r} in {org.slug}.")
        made = create_token(
            actor=actor,
            org=org,
            name=options["name"],
            team=team,
            scopes=[s.strip() for s in options["scopes"].split(",")],
            days=options["days"] or None,
            cluster=options["cluster"],
        )
    return made.secret
