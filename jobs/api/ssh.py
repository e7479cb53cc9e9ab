"""REST: certificates for SSH to sessions and jobs."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request

from jobs.ports.ssh import SshCertificateShape, certificate_for
from workspaces.api.base import OrgView
from workspaces.api.views import read


class SshKeySerializer(s.Serializer):  # type: ignore[type-arg]
    public_key = s.CharField(max_length=8192)


class CertificatesView(OrgView):
    permissions = {"POST": None}

    @extend_schema(operation_id="ssh_certificates_create", request=SshKeySerializer)
    def post(self, request: Request) -> SshCertificateShape:
        """Sign a key of yours for five minutes. It opens nothing without an access token."""
        return certificate_for(
            actor=self.actor, public_key=read(SshKeySerializer, request)["public_key"]
        )
