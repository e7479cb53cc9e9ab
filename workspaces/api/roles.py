"""REST: built-in and custom roles, and explanations of access."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.core.errors import InvalidInput
from workspaces.access import services as access_services
from workspaces.access.check import about_named, explain, explain_person, permission_named
from workspaces.access.differences import PersonRoles
from workspaces.access.explanation import as_data
from workspaces.access.permissions import Permission as P
from workspaces.access.role_presets import role_presets
from workspaces.access.roles import grantable
from workspaces.access.whatif import difference_row, preview_memberships
from workspaces.api.base import OrgView, idempotent
from workspaces.api.views import items, read
from workspaces.organizations import selectors

_PURPOSES = ", ".join(preset.name for preset in role_presets())
_PERMISSIONS = f"Of {', '.join(grantable())}; or a purpose: {_PURPOSES}."


class RoleSerializer(serializers.Serializer):  # type: ignore[type-arg]
    slug = serializers.CharField()
    kind = serializers.CharField(help_text="org, or team.")
    name = serializers.CharField(help_text="Display name.")
    is_built_in = serializers.BooleanField()
    permissions = serializers.ListField(child=serializers.CharField())
    unknown = serializers.ListField(
        child=serializers.CharField(), help_text="Stored permissions that have no effect."
    )
    holders = serializers.IntegerField(help_text="Number of memberships with the role.")


class NewRoleSerializer(serializers.Serializer):  # type: ignore[type-arg]
    slug = serializers.CharField(max_length=40)
    kind = serializers.CharField(max_length=8, default="org", help_text="org, or team.")
    name = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)
    permissions = serializers.ListField(
        child=serializers.CharField(max_length=40), max_length=60, help_text=_PERMISSIONS
    )


class RoleChangeSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField(max_length=100, required=False)
    permissions = serializers.ListField(
        child=serializers.CharField(max_length=40),
        max_length=60,
        required=False,
        help_text=_PERMISSIONS,
    )


class AccessStepSerializer(serializers.Serializer):  # type: ignore[type-arg]
    kind = serializers.CharField()
    effect = serializers.CharField(
        help_text="grants, silent or blocks. Access is allowed if a step grants it and none blocks it."
    )
    is_decisive = serializers.BooleanField(
        help_text="Without this step the decision would be reversed."
    )
    text = serializers.CharField()
    facts = serializers.DictField()


class AccessSerializer(serializers.Serializer):  # type: ignore[type-arg]
    allowed = serializers.BooleanField()
    person = serializers.CharField()
    permission = serializers.CharField()
    words = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    about = serializers.CharField(allow_null=True, required=False)
    steps = AccessStepSerializer(many=True)
    would_allow = serializers.ListField(
        child=serializers.DictField(), help_text="The smallest changes that would allow it."
    )


class StandingSerializer(serializers.Serializer):  # type: ignore[type-arg]
    email = serializers.CharField(max_length=254)
    role = serializers.CharField(
        max_length=40, allow_null=True, help_text="Role in the organization; null: not a member."
    )
    teams = serializers.DictField(
        child=serializers.CharField(max_length=40),
        required=False,
        default=dict,
        help_text="Role by team.",
    )


class ChangesSerializer(serializers.Serializer):  # type: ignore[type-arg]
    changes = StandingSerializer(many=True, min_length=1, max_length=1000)


class DifferenceSerializer(serializers.Serializer):  # type: ignore[type-arg]
    person = serializers.CharField()
    before = serializers.DictField()
    after = serializers.DictField()
    gained = serializers.ListField(
        child=serializers.DictField(),
        help_text="Permissions by team; null: the whole organization.",
    )
    lost = serializers.ListField(child=serializers.DictField())


class RolesView(OrgView):
    permissions = {"GET": P.MEMBERS_READ, "POST": P.ROLES_WRITE}

    @extend_schema(responses=RoleSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List all roles."""
        return items(selectors.roles_here(self.org))

    @extend_schema(request=NewRoleSerializer, responses={201: RoleSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a custom role."""
        row = access_services.create_role(
            actor=self.actor, org=self.org, **read(NewRoleSerializer, request)
        )
        return Response(selectors.role_here(self.org, row.slug), status=status.HTTP_201_CREATED)


class RoleView(OrgView):
    permissions = {"GET": P.MEMBERS_READ, "PATCH": P.ROLES_WRITE, "DELETE": P.ROLES_WRITE}

    @extend_schema(responses=RoleSerializer)
    def get(self, request: Request, role: str) -> Response:
        """Get a role."""
        return Response(selectors.role_here(self.org, role))

    @extend_schema(request=RoleChangeSerializer, responses=RoleSerializer)
    def patch(self, request: Request, role: str) -> Response:
        """Change name or permissions of a custom role, for everybody who has it."""
        access_services.change_role(
            actor=self.actor, org=self.org, slug=role, **read(RoleChangeSerializer, request)
        )
        return Response(selectors.role_here(self.org, role))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, role: str) -> Response:
        """Delete an unused custom role."""
        access_services.delete_role(actor=self.actor, org=self.org, slug=role)
        return Response(status=status.HTTP_204_NO_CONTENT)


class AccessView(OrgView):
    permissions = {"GET": None}

    @extend_schema(
        responses=AccessSerializer,
        parameters=[
            OpenApiParameter("permission", str, required=True),
            OpenApiParameter("team", str),
            OpenApiParameter(
                "user",
                str,
                description="An e-mail address; default: oneself, with the token of this request.",
            ),
            OpenApiParameter(
                "about", str, description="An object instead of a team, such as job:17."
            ),
        ],
    )
    def get(self, request: Request) -> Response:
        """Explain why a user may or may not do something, and what would allow it."""
        query = {
            name: request.query_params.get(name, "")[:254]
            for name in ("user", "permission", "team", "about")
        }
        if "\x00" in "".join(query.values()):
            raise InvalidInput("Must not contain NUL characters.")
        permission = permission_named(query["permission"])
        about = about_named(self.actor, self.org, query["about"]) if query["about"] else None
        team = self.team(query["team"]) if query["team"] else None
        if query["user"] or about:
            found = explain_person(
                asker=self.actor,
                org=self.org,
                email=query["user"] or self.actor.email,
                permission=permission,
                team=team,
                about=about,
            )
        else:
            found = explain(self.actor, permission, team)
        return Response(as_data(found) | {"about": about.title if about else None})


class ChangesView(OrgView):
    permissions = {"POST": P.MEMBERS_WRITE}

    @extend_schema(request=ChangesSerializer, responses=DifferenceSerializer(many=True))
    def post(self, request: Request) -> Response:
        """Preview who would gain or lose which permissions if these people had other roles.

        Nothing is stored.
        """
        given = read(ChangesSerializer, request)["changes"]
        wanted = {
            one["email"].strip().lower(): PersonRoles(one["role"] or "", one["teams"])
            for one in given
        }
        return items([difference_row(one) for one in preview_memberships(self.org, wanted)])
