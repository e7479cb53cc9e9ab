"""REST: import of members from a file."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView
from workspaces.api.views import read
from workspaces.organizations import people_import
from workspaces.organizations.invitation_links import import_links
from workspaces.organizations.people_file import LARGEST


class PeopleFileSerializer(serializers.Serializer):  # type: ignore[type-arg]
    csv = serializers.CharField(
        max_length=LARGEST,
        trim_whitespace=False,
        help_text=(
            "CSV with a header line naming the columns email, name, role, team, team_role; "
            "separated by commas, semicolons or tabs."
        ),
    )
    dry_run = serializers.BooleanField(
        required=False, default=False, help_text="Report what would happen, without changes."
    )
    add = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Add members directly instead of inviting them.",
    )
    send = serializers.BooleanField(
        required=False, default=False, help_text="Mail the invitations."
    )


class ImportedPersonSerializer(serializers.Serializer):  # type: ignore[type-arg]
    line = serializers.IntegerField()
    email = serializers.CharField()
    kind = serializers.CharField(help_text="invited, added, joined (teams), unchanged.")
    teams = serializers.DictField(
        child=serializers.CharField(), help_text="Teams they join: role by team."
    )
    note = serializers.CharField()


class FaultSerializer(serializers.Serializer):  # type: ignore[type-arg]
    line = serializers.IntegerField()
    what = serializers.CharField()


class LinkSerializer(serializers.Serializer):  # type: ignore[type-arg]
    email = serializers.CharField()
    url = serializers.CharField(help_text="Returned only once.")
    is_sent = serializers.BooleanField()


class ImportSerializer(serializers.Serializer):  # type: ignore[type-arg]
    is_done = serializers.BooleanField(
        help_text="False after a dry run or if there are errors; nothing was changed then."
    )
    counts = serializers.DictField(child=serializers.IntegerField())
    people = ImportedPersonSerializer(many=True)
    faults = FaultSerializer(many=True)
    links = LinkSerializer(many=True)


class PeopleImportView(OrgView):
    permissions = {"POST": P.MEMBERS_WRITE}

    @extend_schema(request=PeopleFileSerializer, responses=ImportSerializer)
    def post(self, request: Request) -> Response:
        """Invite or add the people in a file, and add existing members to the teams it names."""
        body = read(PeopleFileSerializer, request)
        report = people_import.import_people(
            actor=self.actor,
            org=self.org,
            text=body["csv"],
            is_dry=body["dry_run"],
            adds=body["add"],
        )
        return Response(
            {
                "is_done": report.is_done,
                "counts": report.counts,
                "faults": [{"line": f.line, "what": f.what} for f in report.faults],
                "people": [
                    {
                        "line": s.person.line,
                        "email": s.person.email,
                        "kind": s.kind,
                        "teams": s.teams,
                        "note": s.note,
                    }
                    for s in report.steps
                ],
                "links": import_links(report, self.actor.email, send=body["send"])
                if report.is_done
                else [],
            }
        )
