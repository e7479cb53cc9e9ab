"""REST: identity providers."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.api.schema import ROWS
from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView, idempotent
from workspaces.api.views import items, read
from workspaces.identity import provider_services as service
from workspaces.identity.directory_sync import find_run, last_runs, start_sync
from workspaces.identity.provider_types import kinds
from workspaces.models import DirectoryRun, Organization, Provider, ProviderTest


class TryProviderSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField(max_length=8)
    options = serializers.DictField(
        default=dict,
        help_text="By name; see `kinds`. Secrets that are omitted or empty are kept; null removes them.",
    )
    way = serializers.CharField(
        max_length=40,
        default="",
        allow_blank=True,
        help_text="One of `ways` of the kind: what it needs is required, and what it sets is set.",
    )
    person = serializers.CharField(
        max_length=254,
        default="",
        allow_blank=True,
        help_text="A name to find as a sign-in would; LDAP only.",
    )


class NewProviderSerializer(TryProviderSerializer):
    person = None  # type: ignore[assignment]  # of a test only
    slug = serializers.CharField(max_length=40)
    name = serializers.CharField(max_length=100, default="", allow_blank=True)
    domains = serializers.ListField(
        child=serializers.CharField(max_length=190), default=list, help_text="Operators only."
    )
    is_wide = serializers.BooleanField(
        default=False, help_text="For the whole installation; operators only."
    )


class ChangeProviderSerializer(serializers.Serializer[Any]):
    options = serializers.DictField(required=False)
    name = serializers.CharField(max_length=100, required=False)
    domains = serializers.ListField(child=serializers.CharField(max_length=190), required=False)
    is_enabled = serializers.BooleanField(required=False)


class ProviderOptionsSerializer(serializers.Serializer[Any]):
    options = serializers.DictField(default=dict)
    person = serializers.CharField(max_length=254, default="", allow_blank=True)


class GroupRuleSerializer(serializers.Serializer[Any]):
    group = serializers.CharField(
        max_length=400, help_text="As the provider writes it; * matches everybody."
    )
    org = serializers.CharField(
        max_length=40,
        default="",
        allow_blank=True,
        help_text="Default: the provider's own organization.",
    )
    team = serializers.CharField(max_length=40, default="", allow_blank=True)
    role = serializers.CharField(max_length=40)


class GroupRulesSerializer(serializers.Serializer[Any]):
    rules = GroupRuleSerializer(many=True)


class NewRunSerializer(serializers.Serializer[Any]):
    is_dry = serializers.BooleanField(default=False, help_text="Only report changes.")
    accept = serializers.UUIDField(
        required=False, help_text="A stopped run whose removals are accepted."
    )


def provider_row(row: Provider) -> dict[str, Any]:
    """Return a provider as shown by the API: names of the secrets that are set, but no values."""
    return {
        "slug": row.short_name,
        "address_name": row.slug,
        "name": row.name,
        "kind": row.kind,
        "org": row.org.slug if row.org else None,
        "options": row.config,
        "secrets": service.stored_secret_names(row),
        "domains": row.domains,
        "is_enabled": row.is_enabled,
        "created_at": row.created_at,
        "seen_at": row.seen_at,
        "trouble": row.trouble,
        "trouble_since": row.trouble_since,
    }


def run_row(run: DirectoryRun) -> dict[str, Any]:
    """Return a run with descriptions of its changes."""
    return {
        "id": run.id,
        "outcome": run.outcome,
        "is_dry": run.is_dry,
        "people_read": run.people_read,
        "message": run.message,
        "actor": run.actor,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "counts": run.counts,
        "lines": run.lines,
    }


class ProvidersView(OrgView):
    permissions = {"GET": P.PROVIDERS_READ, "POST": P.PROVIDERS_WRITE}

    @extend_schema(operation_id="providers_list", responses={200: ROWS})
    def get(self, request: Request) -> Response:
        """List providers, and all kinds with their options.

        Operators also get the providers of the installation.
        """
        known = [
            {
                "name": k.name,
                "title": k.title,
                "missing": k.missing(),
                "options": [o.as_dict() for o in k.options],
                "ways": [way.as_dict() for way in k.ways],
            }
            for k in kinds().values()
        ]
        return Response(
            {
                "items": [provider_row(row) for row in service.providers_for(self.actor)],
                "next": None,
                "previous": None,
                "kinds": known,
            }
        )

    @extend_schema(request=NewProviderSerializer, responses={201: OpenApiTypes.OBJECT})
    @idempotent
    def post(self, request: Request) -> Response:
        """Connect a provider. Nobody can sign in with it until it has rules."""
        body = read(NewProviderSerializer, request)
        is_wide = body.pop("is_wide")
        made = service.create_provider(actor=self.actor, org=None if is_wide else self.org, **body)
        return Response(provider_row(made), status=status.HTTP_201_CREATED)


class ProviderTryView(OrgView):
    permissions = {"POST": P.PROVIDERS_WRITE}

    @extend_schema(request=TryProviderSerializer, responses={202: OpenApiTypes.OBJECT})
    def post(self, request: Request) -> Response:
        """Test options that are not stored.

        Returns at once; `Location` is the address of the result.
        """
        return _test_started(
            self.org,
            service.start_test(
                actor=self.actor, org=self.org, **read(TryProviderSerializer, request)
            ),
        )


class ProviderTestAnswerView(OrgView):
    permissions = {"GET": P.PROVIDERS_WRITE}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, test: UUID) -> Response:
        """Get the result of a test; `ended_at` is null while it runs."""
        return Response(service.provider_test_data(service.find_test(self.actor, test)))


class ProviderView(OrgView):
    permissions = {"GET": P.PROVIDERS_READ, "PATCH": P.PROVIDERS_WRITE, "DELETE": P.PROVIDERS_WRITE}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """Get a provider with its options and rules, without secrets."""
        row = service.find_provider(self.actor, slug)
        return Response(provider_row(row) | {"rules": service.group_rules(row)})

    @extend_schema(request=ChangeProviderSerializer, responses=OpenApiTypes.OBJECT)
    def patch(self, request: Request, slug: str) -> Response:
        """Change options, name or domains of a provider, or enable or disable it."""
        row = service.find_provider(self.actor, slug)
        return Response(
            provider_row(
                service.update_provider(
                    actor=self.actor, provider=row, **read(ChangeProviderSerializer, request)
                )
            )
        )

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Delete a provider. Roles it gave stay, as if given by hand."""
        service.remove_provider(actor=self.actor, provider=service.find_provider(self.actor, slug))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ProviderTestView(OrgView):
    permissions = {"POST": P.PROVIDERS_WRITE}

    @extend_schema(request=ProviderOptionsSerializer, responses={202: OpenApiTypes.OBJECT})
    def post(self, request: Request, slug: str) -> Response:
        """Test a provider, with other options if some are given.

        Returns at once; `Location` is the address of the result.
        """
        row, body = (
            service.find_provider(self.actor, slug),
            read(ProviderOptionsSerializer, request),
        )
        return _test_started(
            self.org,
            service.start_test(actor=self.actor, org=row.org, kind=row.kind, provider=row, **body),
        )


class ProviderRulesView(OrgView):
    permissions = {"GET": P.PROVIDERS_READ, "PUT": P.PROVIDERS_WRITE}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """List the rules that map groups to roles, in order."""
        return items(service.group_rules(service.find_provider(self.actor, slug)))

    @extend_schema(request=GroupRulesSerializer, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, slug: str) -> Response:
        """Replace all rules. They take effect at the next sign-in or sync."""
        row = service.find_provider(self.actor, slug)
        service.set_rules(
            actor=self.actor, provider=row, rules=read(GroupRulesSerializer, request)["rules"]
        )
        return items(service.group_rules(row))


class ProviderGroupsView(OrgView):
    permissions = {"GET": P.PROVIDERS_WRITE}

    @extend_schema(
        parameters=[OpenApiParameter("q", str, description="Part of the name")],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Search the provider's groups by name; at most twenty are returned."""
        row = service.find_provider(self.actor, slug)
        names = service.search_groups(
            actor=self.actor, provider=row, typed=request.query_params.get("q", "")
        )
        return Response({"items": names, "next": None, "previous": None})


class ProviderRunsView(OrgView):
    permissions = {"GET": P.PROVIDERS_READ, "POST": P.PROVIDERS_WRITE}

    @extend_schema(operation_id="orgs_providers_runs_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """List the latest syncs with their changes."""
        return items([run_row(run) for run in last_runs(service.find_provider(self.actor, slug))])

    @extend_schema(request=NewRunSerializer, responses={202: OpenApiTypes.OBJECT})
    def post(self, request: Request, slug: str) -> Response:
        """Start a sync of all users and roles, or a dry run.

        `Location` is the address of the run. Returns 409 while another run is queued or running.
        """
        row, body = service.find_provider(self.actor, slug), read(NewRunSerializer, request)
        stopped = DirectoryRun.objects.filter(
            provider=row, id=body.get("accept") or UUID(int=0), outcome=DirectoryRun.Outcome.STOPPED
        ).first()
        run = start_sync(actor=self.actor, provider=row, is_dry=body["is_dry"], accepted=stopped)
        where = reverse(
            "api-provider-run", kwargs={"org": self.org.slug, "slug": slug, "run": run.id}
        )
        return Response(run_row(run), status=status.HTTP_202_ACCEPTED, headers={"Location": where})


class ProviderRunView(OrgView):
    permissions = {"GET": P.PROVIDERS_READ}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, run: UUID) -> Response:
        """Get a run; `ended_at` is null until it ends, and `people_read` is its progress."""
        return Response(run_row(find_run(service.find_provider(self.actor, slug), run)))


def _test_started(org: Organization, test: ProviderTest) -> Response:
    where = reverse("api-provider-test-answer", kwargs={"org": org.slug, "test": test.id})
    return Response(
        service.provider_test_data(test),
        status=status.HTTP_202_ACCEPTED,
        headers={"Location": where},
    )
