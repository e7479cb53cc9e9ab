"""What the REST views of organizations take and give."""

from __future__ import annotations

from rest_framework import serializers

from workspaces.permissions import OrgRole, TeamRole

_ORG_ROLES = f"One of {', '.join(OrgRole)}, or an organization's role of your own making."
_TEAM_ROLES = f"One of {', '.join(TeamRole)}, or a team's role of your own making."


class OrgSerializer(serializers.Serializer):  # type: ignore[type-arg]
    slug = serializers.CharField()
    name = serializers.CharField()
    role = serializers.CharField(help_text="The caller's role; empty for an operator.")
    role_title = serializers.CharField(required=False, help_text="What people call that role.")


class TeamSerializer(serializers.Serializer):  # type: ignore[type-arg]
    slug = serializers.CharField()
    name = serializers.CharField()
    role = serializers.CharField(help_text="The caller's role in it, or empty.")
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
    role_title = serializers.CharField(required=False, help_text="What people call that role; in lists.")
    teams = serializers.ListField(child=serializers.CharField(), required=False)
    created_at = serializers.DateTimeField()
    invite_url = serializers.CharField(required=False, help_text="Given once, for a person who has no password yet.")


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
    hint = serializers.CharField(help_text="The first characters.")
    owner = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    scopes = serializers.ListField(child=serializers.CharField())
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)
    token = serializers.CharField(required=False, help_text="The secret; only in the answer that made it.")


class NewTokenSerializer(serializers.Serializer):  # type: ignore[type-arg]
    name = serializers.CharField(max_length=100)
    scopes = serializers.ListField(child=serializers.CharField(max_length=40), min_length=1, max_length=40)
    team = serializers.CharField(max_length=40, required=False, allow_null=True, default=None)
    days = serializers.IntegerField(required=False, allow_null=True, default=90, help_text="null: it does not expire.")


class QuotaSerializer(serializers.Serializer):  # type: ignore[type-arg]
    scope = serializers.CharField()
    subject = serializers.CharField()
    resource = serializers.CharField()
    limit = serializers.FloatField(allow_null=True)
    used = serializers.FloatField()
    unit = serializers.CharField()


class SetQuotaSerializer(serializers.Serializer):  # type: ignore[type-arg]
    scope = serializers.ChoiceField(["org", "team", "user"])
    subject = serializers.CharField(max_length=254, required=False, default="", allow_blank=True)
    resource = serializers.CharField(max_length=40)
    limit = serializers.FloatField(allow_null=True)


class MeSerializer(serializers.Serializer):  # type: ignore[type-arg]
    email = serializers.CharField()
    name = serializers.CharField()
    is_operator = serializers.BooleanField()
    orgs = serializers.ListField(child=serializers.DictField())
    token = serializers.DictField(allow_null=True)
    version = serializers.CharField()
