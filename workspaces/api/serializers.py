"""Serializers of the organization API."""

from __future__ import annotations

from rest_framework import serializers

from workspaces.access.permissions import OrgRole, TeamRole
from workspaces.credentials.token_presets import token_presets

_ORG_ROLES = f"One of {', '.join(OrgRole)}, or a custom organization role."
_TEAM_ROLES = f"One of {', '.join(TeamRole)}, or a custom team role."


class OrgSerializer(serializers.Serializer):  # type: ignore[type-arg]
    slug = serializers.CharField()
    name = serializers.CharField()
    role = serializers.CharField(help_text="The caller's role; empty for an operator.")
    role_title = serializers.CharField(required=False, help_text="Display name of that role.")
    requires_second_factor = serializers.BooleanField(required=False)


class NewOrgSerializer(serializers.Serializer):  # type: ignore[type-arg]
    slug = serializers.CharField(max_length=40)
    name = serializers.CharField(max_length=100, default="", allow_blank=True)
    owner = serializers.CharField(
        max_length=254, help_text="The first owner's e-mail; an account is created if needed."
    )
    owner_name = serializers.CharField(max_length=100, default="", allow_blank=True)


class NewOrgAnswerSerializer(serializers.Serializer):  # type: ignore[type-arg]
    slug = serializers.CharField()
    name = serializers.CharField()
    owner = serializers.CharField()
    url = serializers.CharField(
        allow_null=True, help_text="Link for an owner without a password to set one."
    )


class OrgRulesSerializer(serializers.Serializer):  # type: ignore[type-arg]
    requires_second_factor = serializers.BooleanField(
        help_text="Members without one are asked to add it; their tokens do not work here until then."
    )


class TeamSerializer(serializers.Serializer):  # type: ignore[type-arg]
    slug = serializers.CharField()
    name = serializers.CharField()
    role = serializers.CharField(help_text="The caller's role in the team, or empty.")
    role_title = serializers.CharField()
    members = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class NewTeamSerializer(serializers.Serializer):  # type: ignore[type-arg]
    slug = serializers.CharField(max_length=40)
    name = serializers.CharField(max_length=100, required=False, default="")


class RenameSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField(max_length=100)


class MemberSerializer(serializers.Serializer):  # type: ignore[type-arg]
    email = serializers.EmailField()
    name = serializers.CharField()
    role = serializers.CharField()
    role_title = serializers.CharField(
        required=False, help_text="Display name of the role; only in lists."
    )
    teams = serializers.ListField(child=serializers.CharField(), required=False)
    created_at = serializers.DateTimeField()
    is_service = serializers.BooleanField(help_text="Whether it is a service account.")
    is_suspended = serializers.BooleanField(
        required=False, help_text="Suspended: roles and tokens have no effect; only in lists."
    )
    invite_url = serializers.CharField(
        required=False,
        help_text="Link for a new user to set a password, or for an invited one to accept; returned "
        "once.",
    )
    is_invited = serializers.BooleanField(
        required=False, help_text="Has an account, and becomes a member by accepting."
    )


class NewMemberSerializer(serializers.Serializer):  # type: ignore[type-arg]
    email = serializers.CharField(max_length=254)
    name = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)
    role = serializers.CharField(max_length=40, default="member", help_text=_ORG_ROLES)


class OrgRoleSerializer(serializers.Serializer):  # type: ignore[type-arg]
    role = serializers.CharField(max_length=40, help_text=_ORG_ROLES)


class NewTeamMemberSerializer(serializers.Serializer):  # type: ignore[type-arg]
    email = serializers.CharField(max_length=254)
    role = serializers.CharField(max_length=40, default="member", help_text=_TEAM_ROLES)


class TeamRoleSerializer(serializers.Serializer):  # type: ignore[type-arg]
    role = serializers.CharField(max_length=40, help_text=_TEAM_ROLES)


class TokenSerializer(serializers.Serializer):  # type: ignore[type-arg]
    id = serializers.UUIDField()
    name = serializers.CharField()
    hint = serializers.CharField(help_text="First characters of the token.")
    owner = serializers.CharField()
    is_service = serializers.BooleanField(help_text="Whether it belongs to a service account.")
    team = serializers.CharField(allow_null=True)
    scopes = serializers.ListField(child=serializers.CharField())
    networks = serializers.ListField(
        child=serializers.CharField(), help_text="CIDRs it may be used from; empty: any address."
    )
    cluster = serializers.CharField(
        allow_null=True, help_text="Of a node agent: the cluster whose nodes it may report."
    )
    made_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    ends_soon = serializers.BooleanField(help_text="Expires within a week, without a successor.")
    is_rotated = serializers.BooleanField(
        help_text="Replaced by another token; it works until `expires_at`."
    )
    last_used_at = serializers.DateTimeField(allow_null=True)
    last_used_address = serializers.CharField(allow_blank=True)
    token = serializers.CharField(required=False, help_text="The token; returned only on creation.")


class NewTokenSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField(max_length=100)
    scopes = serializers.ListField(
        child=serializers.CharField(max_length=40),
        min_length=1,
        max_length=40,
        help_text=f"all, permissions, or a purpose: {', '.join(p.name for p in token_presets())}.",
    )
    team = serializers.CharField(max_length=40, required=False, allow_null=True, default=None)
    days = serializers.IntegerField(
        required=False, allow_null=True, default=90, help_text="null: does not expire."
    )
    networks = serializers.ListField(
        child=serializers.CharField(max_length=60),
        required=False,
        default=list,
        max_length=50,
        help_text="CIDRs it may be used from; empty: any address.",
    )
    cluster = serializers.CharField(
        max_length=40,
        required=False,
        allow_blank=True,
        default="",
        help_text="Of a node agent: the cluster whose nodes it may report; needs agent:write alone.",
    )


class RotateSerializer(serializers.Serializer):  # type: ignore[type-arg]
    overlap_hours = serializers.IntegerField(
        required=False,
        default=24,
        min_value=0,
        max_value=168,
        help_text="How long the old token keeps working.",
    )


class ServiceAccountSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField()
    email = serializers.CharField(help_text="Address to add it to teams with; it receives no mail.")
    note = serializers.CharField(allow_blank=True)
    role = serializers.CharField()
    role_title = serializers.CharField(help_text="Display name of that role.")
    teams = serializers.ListField(child=serializers.DictField())
    made_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    tokens = serializers.IntegerField(help_text="Number of active tokens.")
    last_used_at = serializers.DateTimeField(allow_null=True)
    ending_soon = serializers.IntegerField(
        help_text="Number of tokens that expire within a week, without a successor."
    )


class NewServiceAccountSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField(max_length=40)
    note = serializers.CharField(max_length=200, required=False, default="", allow_blank=True)
    role = serializers.CharField(
        max_length=40,
        default=str(OrgRole.MEMBER),
        help_text="Any role but owner, without permissions that one lacks.",
    )


class ChangeServiceAccountSerializer(serializers.Serializer):  # type: ignore[type-arg]
    note = serializers.CharField(max_length=200, required=False, allow_blank=True)
    role = serializers.CharField(max_length=40, required=False)


class MeSerializer(serializers.Serializer):  # type: ignore[type-arg]
    email = serializers.CharField()
    name = serializers.CharField()
    is_operator = serializers.BooleanField()
    orgs = serializers.ListField(child=serializers.DictField())
    token = serializers.DictField(allow_null=True)
    version = serializers.CharField()
