"""REST: audit log of an organization, and of the installation for operators.

Filters, pages, exports, verification.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.api.schema import ROWS
from portal.core.audit import export
from portal.core.audit.canonical import NO_ORG
from portal.core.audit.forwarding import state_of
from portal.core.audit.reading import all_of
from portal.core.audit.state import chain_state
from portal.core.errors import InvalidInput
from portal.lists import check_names
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission as P
from workspaces.api.base import OrgView, PortalView
from workspaces.api.views import read
from workspaces.audit import services
from workspaces.lists import AUDIT, audit_log


class RetentionSerializer(serializers.Serializer[Any]):
    keep_days = serializers.IntegerField(
        allow_null=True, help_text="30 to 36500; null keeps events forever."
    )


class ForwardSerializer(serializers.Serializer[Any]):
    target = serializers.CharField(
        max_length=500,
        help_text="https://…, syslog+tls://host:port, syslog+tcp://… or syslog+udp://….",
    )
    from_start = serializers.BooleanField(
        default=False, help_text="From the beginning of the chain instead of from now on."
    )


class _AuditView(PortalView):
    """Base of audit views. `chain`: whose audit log."""

    of_installation = False

    @property
    def chain(self) -> UUID:
        if self.of_installation:
            return NO_ORG
        assert self.actor.org_id is not None
        return self.actor.org_id


class _Events(_AuditView):
    @extend_schema(parameters=AUDIT.parameters(), responses={200: ROWS})
    def get(self, request: Request) -> Response:
        """List events, newest first, with values before and after.

        Keyset pagination without a total.
        """
        with services.scope_of(self.chain):
            return Response(audit_log(self.chain).answer(self.actor, request.query_params))


class _Export(_AuditView):
    @extend_schema(
        parameters=[
            *(one.parameter for one in AUDIT.filters),
            OpenApiParameter(
                "format", str, enum=list(export.FORMATS), description="Default jsonl."
            ),
        ],
        responses={(200, "application/x-ndjson", "*/*"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Export all matching events, oldest first, as JSON lines or CSV.

        The export is itself an event.
        """
        query = request.query_params.dict()
        kind = query.pop("format", "") or "jsonl"
        check_names(query, [one.name for one in AUDIT.filters])
        return exported(self.actor, self.chain, query, kind)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Ignore DRF's meaning of `format`: here it is a parameter of the export."""
        renderer = self.get_renderers()[0]
        return renderer, renderer.media_type


class _Chain(_AuditView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """Get how far the chain is sealed, its last anchor, and the last verification result."""
        with services.scope_of(self.chain):
            return Response(chain_state(self.chain))


class _Verify(_AuditView):
    @extend_schema(request=None, responses={202: OpenApiTypes.OBJECT})
    def post(self, request: Request) -> Response:
        """Verify the whole chain.

        Starts within seconds; `…/audit/chain` shows when it has ended.
        """
        return Response(
            services.request_verification(actor=self.actor, chain=self.chain),
            status=status.HTTP_202_ACCEPTED,
        )


class _Settings(_AuditView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """Get the retention and the forwarding targets."""
        return Response(services.settings_of(self.chain))

    @extend_schema(request=RetentionSerializer, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request) -> Response:
        """Set the retention in days; null keeps events forever."""
        services.set_retention(
            actor=self.actor, chain=self.chain, days=read(RetentionSerializer, request)["keep_days"]
        )
        return Response(services.settings_of(self.chain))


class _Forwards(_AuditView):
    @extend_schema(request=ForwardSerializer, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request) -> Response:
        """Forward events to a target. The secret that signs webhooks is returned only here."""
        made = services.add_forward(
            actor=self.actor, chain=self.chain, **read(ForwardSerializer, request)
        )
        return Response(
            state_of(made.row) | ({"secret": made.secret} if made.secret else {}),
            status=status.HTTP_201_CREATED,
        )


class _Forward(_AuditView):
    @extend_schema(request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, forward: UUID) -> Response:
        """Retry a forwarding target at once, even one that was given up."""
        return Response(
            state_of(services.retry_forward(actor=self.actor, chain=self.chain, forward_id=forward))
        )

    @extend_schema(responses={204: None})
    def delete(self, request: Request, forward: UUID) -> Response:
        """Delete a forwarding target."""
        services.remove_forward(actor=self.actor, chain=self.chain, forward_id=forward)
        return Response(status=status.HTTP_204_NO_CONTENT)


class EventsView(_Events, OrgView):
    permissions = {"GET": P.AUDIT_READ}


class ExportView(_Export, OrgView):
    permissions = {"GET": P.AUDIT_READ}


class ChainView(_Chain, OrgView):
    permissions = {"GET": P.AUDIT_READ}


class VerifyView(_Verify, OrgView):
    permissions = {"POST": P.AUDIT_READ}


class SettingsView(_Settings, OrgView):
    permissions = {"GET": P.AUDIT_READ, "PUT": P.ORG_ADMIN}


class ForwardsView(_Forwards, OrgView):
    permissions = {"POST": P.ORG_ADMIN}


@extend_schema_view(
    post=extend_schema(
        operation_id="orgs_audit_forwards_retry", request=None, responses=OpenApiTypes.OBJECT
    )
)
class ForwardView(_Forward, OrgView):
    permissions = {"POST": P.ORG_ADMIN, "DELETE": P.ORG_ADMIN}


class PlatformSettingsView(_Settings):
    permissions, of_installation = {"GET": P.AUDIT_PLATFORM, "PUT": P.AUDIT_PLATFORM}, True


class PlatformForwardsView(_Forwards):
    permissions, of_installation = {"POST": P.AUDIT_PLATFORM}, True


@extend_schema_view(
    post=extend_schema(
        operation_id="audit_forwards_retry", request=None, responses=OpenApiTypes.OBJECT
    )
)
class PlatformForwardView(_Forward):
    permissions, of_installation = {"POST": P.AUDIT_PLATFORM, "DELETE": P.AUDIT_PLATFORM}, True


class PlatformEventsView(_Events):
    permissions, of_installation = {"GET": P.AUDIT_PLATFORM}, True


class PlatformExportView(_Export):
    permissions, of_installation = {"GET": P.AUDIT_PLATFORM}, True


class PlatformChainView(_Chain):
    permissions, of_installation = {"GET": P.AUDIT_PLATFORM}, True


class PlatformVerifyView(_Verify):
    permissions, of_installation = {"POST": P.AUDIT_PLATFORM}, True


def exported(
    actor: Actor, chain: UUID, asked: Mapping[str, str], kind: str
) -> StreamingHttpResponse:
    """Stream an export, with at most a thousand events in memory.

    Raises InvalidInput before the stream starts.
    """
    if kind not in export.FORMATS:
        raise InvalidInput.at("format", f"must be one of {', '.join(export.FORMATS)}")
    log, filters = audit_log(chain), AUDIT.read(asked).filters
    rows = log.narrowed(actor, filters)
    services.record_export(actor=actor, chain=chain, kind=kind, asked=filters)
    name = f"audit-{actor.org_slug or 'installation'}.{kind}"
    return StreamingHttpResponse(
        export.lines(all_of(rows), kind),
        content_type=export.FORMATS[kind],
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "X-Content-Type-Options": "nosniff",
        },
    )
