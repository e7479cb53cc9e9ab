"""REST: the current actor, organizations, teams, members and tokens."""

from __future__ import annotations

from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.core.shapes import PageShape, whole_page
from workspaces.access.permissions import Permission as P
from workspaces.api import serializers as s
from workspaces.api.base import OrgView, PortalView, idempotent
from workspaces.credentials import tokens
from workspaces.lists import MEMBERS, TEAMS, TOKENS, ListedMemberShape, ListedTeamShape
from workspaces.models import Team, User
from workspaces.organizations import (
    invitations,
    platform_services,
    selectors,
)
from workspaces.organizations import (
    services as organization_services,
)
from workspaces.organizations.invitation_links import invite_url
from workspaces.organizations.invitations import NewInvitation

S = TypeVar("S", bound=serializers.BaseSerializer[Any])


def read(kind: type[S], request: Request) -> dict[str, Any]:
    """Return the validated body. Raises DRF's ValidationError, reported as invalid_input."""
    body = kind(data=request.data)
    body.is_valid(raise_exception=True)
    return body.validated_data  # type: ignore[no-any-return]


def items(rows: list[dict[str, Any]]) -> Response:
    """Return a list that always fits into one page."""
    return Response(whole_page(rows))


class MeView(PortalView):
    permissions = {"GET": None}

    @extend_schema(responses=s.MeSerializer)
    def get(self, request: Request) -> Response:
        """Get the current actor with organizations, teams and restrictions of the token."""
        actor = self.actor
        token = actor.token and {
            "scopes": sorted(actor.token.scopes),
            "id": actor.token.id,
            "is_job": actor.token.attempt_id is not None,
        }
        return Response(
            {
                "email": actor.email,
                "name": actor.name,
                "is_operator": actor.is_operator,
                "orgs": selectors.orgs_and_teams_of(actor),
                "token": token,
                "version": settings.MUSTER_VERSION,
            }
        )


class OrgsView(PortalView):
    permissions = {"GET": None, "POST": P.PLATFORM_ADMIN}

    @extend_schema(responses=s.OrgSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List your organizations."""
        return items(selectors.orgs_and_teams_of(self.actor))

    @extend_schema(request=s.NewOrgSerializer, responses={201: s.NewOrgAnswerSerializer})
    def post(self, request: Request) -> Response:
        """Create an organization with its first owner. Operators only."""
        answer = self._create(request)
        owner = User.objects.filter(email=answer.data["owner"]).first()
        # Never stored with an idempotent response
        answer.data["url"] = invite_url(owner) if owner else None
        return answer

    @idempotent
    def _create(self, request: Request) -> Response:
        body = read(s.NewOrgSerializer, request)
        org, owner = platform_services.create_org_with_owner(
            actor=self.actor,
            slug=body["slug"],
            name=body["name"],
            email=body["owner"],
            owner_name=body["owner_name"],
        )
        return Response(
            {"slug": org.slug, "name": org.name, "owner": owner.email},
            status=status.HTTP_201_CREATED,
        )


class OrgDetailView(OrgView):
    permissions = {"GET": P.TEAMS_READ, "PATCH": P.ORG_ADMIN}

    @extend_schema(responses=s.OrgSerializer)
    def get(self, request: Request) -> Response:
        """Get an organization."""
        return Response(self._row())

    @extend_schema(request=s.OrgRulesSerializer, responses=s.OrgSerializer)
    def patch(self, request: Request) -> Response:
        """Set whether members need a second factor."""
        organization_services.require_second_factor(
            actor=self.actor,
            org=self.org,
            is_required=read(s.OrgRulesSerializer, request)["requires_second_factor"],
        )
        return Response(self._row())

    def _row(self) -> dict[str, Any]:
        return {
            "slug": self.org.slug,
            "name": self.org.name,
            "role": self.actor.org_role,
            "created_at": self.org.created_at,
            "requires_second_factor": self.org.requires_second_factor,
        }


class TeamsView(OrgView):
    permissions = {"GET": TEAMS.permission, "POST": P.TEAMS_WRITE}

    @extend_schema(parameters=TEAMS.parameters())
    def get(self, request: Request) -> PageShape[ListedTeamShape]:
        """List all teams of the organization, with what they use as far as you may see it."""
        return TEAMS.answer(self.actor, request.query_params)

    @extend_schema(request=s.NewTeamSerializer, responses={201: s.TeamSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a team."""
        team = organization_services.create_team(
            actor=self.actor, org=self.org, **read(s.NewTeamSerializer, request)
        )
        return Response(_team(self, team), status=status.HTTP_201_CREATED)


class TeamView(OrgView):
    permissions = {"GET": P.TEAMS_READ, "PATCH": None}

    @extend_schema(responses=s.TeamSerializer)
    def get(self, request: Request, team: str) -> Response:
        """Get a team."""
        return Response(_team(self, self.team(team)))

    @extend_schema(request=s.RenameSerializer, responses=s.TeamSerializer)
    def patch(self, request: Request, team: str) -> Response:
        """Rename a team."""
        row = organization_services.rename_team(
            actor=self.actor, team=self.team(team), **read(s.RenameSerializer, request)
        )
        return Response(_team(self, row))


class TeamMembersView(OrgView):
    permissions = {"GET": P.MEMBERS_READ, "POST": None}

    @extend_schema(responses=s.MemberSerializer(many=True))
    def get(self, request: Request, team: str) -> Response:
        """List the members of a team."""
        return items(selectors.members_of_team(self.team(team)))

    @extend_schema(request=s.NewTeamMemberSerializer, responses={201: s.MemberSerializer})
    @idempotent
    def post(self, request: Request, team: str) -> Response:
        """Add a member of the organization to the team."""
        row = organization_services.add_team_member(
            actor=self.actor, team=self.team(team), **read(s.NewTeamMemberSerializer, request)
        )
        return Response(_member(row), status=status.HTTP_201_CREATED)


class TeamMemberView(OrgView):
    permissions = {"PATCH": None, "DELETE": None}

    @extend_schema(request=s.TeamRoleSerializer, responses=s.MemberSerializer)
    def patch(self, request: Request, team: str, email: str) -> Response:
        """Change a member's role in the team."""
        row = organization_services.change_team_member(
            actor=self.actor,
            team=self.team(team),
            email=email,
            **read(s.TeamRoleSerializer, request),
        )
        return Response(_member(row))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, team: str, email: str) -> Response:
        """Remove a member from the team."""
        organization_services.remove_team_member(
            actor=self.actor, team=self.team(team), email=email
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


class MembersView(OrgView):
    permissions = {"GET": MEMBERS.permission, "POST": P.MEMBERS_WRITE}

    @extend_schema(parameters=MEMBERS.parameters())
    def get(self, request: Request) -> PageShape[ListedMemberShape]:
        """List members by e-mail address, including suspended ones. Keyset pagination.

        With what they use in the teams whose use you may see.
        """
        return MEMBERS.answer(self.actor, request.query_params)

    @extend_schema(
        request=s.NewMemberSerializer, responses={201: s.MemberSerializer, 202: s.MemberSerializer}
    )
    def post(self, request: Request) -> Response:
        """Add a member.

        For new users the response has a link to set a password. Users with an account are invited
        (202, `is_invited`) and become members once they accept.
        """
        row = invitations.add_or_invite(
            actor=self.actor, org=self.org, **read(s.NewMemberSerializer, request)
        )
        if isinstance(row, NewInvitation):
            requested = row.row
            return Response(
                {
                    "email": requested.email,
                    "name": requested.name,
                    "role": requested.role,
                    "created_at": requested.created_at,
                    "is_service": False,
                    "invite_url": row.url,
                    "is_invited": True,
                },
                status=status.HTTP_202_ACCEPTED,
            )
        link = invite_url(row.user)
        return Response(
            _member(row) | ({"invite_url": link} if link else {}), status=status.HTTP_201_CREATED
        )


class MemberView(OrgView):
    permissions = {"PATCH": P.MEMBERS_WRITE, "DELETE": P.MEMBERS_WRITE}

    @extend_schema(request=s.OrgRoleSerializer, responses=s.MemberSerializer)
    def patch(self, request: Request, email: str) -> Response:
        """Change a member's role in the organization."""
        row = organization_services.change_member(
            actor=self.actor, org=self.org, email=email, **read(s.OrgRoleSerializer, request)
        )
        return Response(_member(row))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, email: str) -> Response:
        """Remove a member from the organization and all of its teams."""
        organization_services.remove_member(actor=self.actor, org=self.org, email=email)
        return Response(status=status.HTTP_204_NO_CONTENT)


class TokensView(OrgView):
    permissions = {"GET": TOKENS.permission, "POST": None}

    @extend_schema(parameters=TOKENS.parameters(), responses=s.TokenSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List your tokens, or all if you may change members."""
        return Response(TOKENS.answer(self.actor, request.query_params))

    @extend_schema(request=s.NewTokenSerializer, responses={201: s.TokenSerializer})
    def post(self, request: Request) -> Response:
        """Create a token. It is returned only here."""
        body = read(s.NewTokenSerializer, request)
        team = self.team(body.pop("team")) if body["team"] else body.pop("team")
        made = tokens.create_token(actor=self.actor, org=self.org, team=team, **body)
        return Response(
            selectors.token_row(made.row) | {"token": made.secret}, status=status.HTTP_201_CREATED
        )


class TokenView(OrgView):
    permissions = {"DELETE": None}

    @extend_schema(responses={204: None})
    def delete(self, request: Request, token: UUID) -> Response:
        """Revoke a token."""
        tokens.revoke_token(actor=self.actor, token_id=token)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _team(view: OrgView, team: Team) -> selectors.TeamShape:
    return selectors.team_rows([team], view.actor)[0]


def _member(row: Any) -> dict[str, Any]:
    user: User = row.user
    return {
        "email": user.email,
        "name": user.display_name,
        "role": row.role,
        "created_at": row.created_at,
        "is_service": user.is_service,
    }
