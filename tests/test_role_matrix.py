"""Check every REST route and method for every role, and the single scope that a token needs.

test_permission_matrix.py checks what holds for all routes alike. Here each route has a row; a
missing row fails.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client

from billing.models import Budget, Price
from clusters.models import Device, MigPlan, Node, Pool, PoolGrant, PoolRequest
from datasets import services as dataset_services
from datasets.folders import entries
from datasets.folders import services as folders
from datasets.models import FolderUpload, Import, Ref, Repository, SharedFolder, Upload
from experiments import artifacts
from experiments import services as experiment_services
from experiments.models import Run
from jobs import services as job_services
from jobs.models import IdleRule
from monitoring.models import TelemetrySource
from notifications.models import Channel, Delivery
from portal.blobs.folders import root_folder
from portal.blobs.store import file_store
from portal.core import clock, vault
from portal.core.audit.canonical import NO_ORG
from portal.core.audit.models import AuditForward
from registry import services as model_services
from registry.models import RegisteredModel
from registry.services.versions import About
from schedulers.spec import parse_mapping
from tests import matrix
from tests.jobs.stage import cluster_with
from tests.matrix import (
    ADMINS,
    EVERYBODY,
    INSIDERS,
    LEADS,
    NOBODY,
    OPERATORS,
    OWNERS,
    PEOPLE,
    VIEWERS,
    WORKERS,
    Row,
)
from tests.rig.seeds import WALKS, choose
from tests.story import Story
from tests.test_permission_matrix import API, FORWARD, PAGES, VALUES
from workspaces.access import services as access_services
from workspaces.access.permissions import Permission as P
from workspaces.access.permissions import all_permissions
from workspaces.credentials import secrets, service_accounts
from workspaces.credentials import tokens as tokens_services
from workspaces.identity.oidc_provider.applications import create_application
from workspaces.models import (
    AccessToken,
    DirectoryRun,
    Provider,
    ProviderTest,
    QuotaRequest,
    ScimToken,
    User,
)
from workspaces.organizations import invitations
from workspaces.organizations import services as organization_services
from workspaces.quotas import set_limits
from workspaces.tenancy.scope import org_scope, platform_scope

REFUSED = (403, 404)


PLATFORM_FORWARD = FORWARD.replace("0011", "0012")
LDAP = {"url": "ldap://127.0.0.1:1", "people_base": "dc=x"}
LATER = {"ends_at": "2100-01-01T00:00:00Z", "starts_at": "2099-12-01T00:00:00Z"}
HOOK = {"kind": "webhook", "url": "https://hooks.example.org/in"}
SOURCE = {"cluster": "local", "kind": "prometheus", "urls": "http://127.0.0.1:1"}
A_WEEK_AGO = (clock.now() - timedelta(days=7)).isoformat()
SPEC = {"team": "vision", "spec": {"run": "true"}}
REPOSITORY = {  # of datasets and of checkpoints
    ("s", "GET"): Row(EVERYBODY, None),  # a list of what is visible
    ("s", "POST"): Row(WORKERS, P.DATASETS_WRITE, {"team": "vision", "name": "fresh"}),
    ("s-trash", "GET"): Row(EVERYBODY, None),  # likewise
    ("s-trash-entry", "POST"): Row(WORKERS, P.DATASETS_WRITE),
    ("s-trash-entry", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("s-retention", "GET"): Row(ADMINS, P.DATASETS_ADMIN),
    ("s-retention", "PUT"): Row(ADMINS, P.DATASETS_ADMIN, {"keep_last": 3}),
    ("", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("", "PATCH"): Row(WORKERS, P.DATASETS_WRITE, {"description": "new"}),
    ("", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-shares", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-share", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-share", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-space", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-space", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-imports", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-imports", "POST"): Row(
        WORKERS, P.DATASETS_WRITE, {"source": ["https://example.org/train.tar"]}
    ),
    ("-import", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-import-cancel", "POST"): Row(WORKERS, P.DATASETS_WRITE),
    ("-import-resume", "POST"): Row(WORKERS, P.DATASETS_WRITE),
    ("-retention", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-retention", "POST"): Row(WORKERS, P.DATASETS_WRITE, {"keep_last": 1}),
    ("-versions", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-version", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-version", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-commits", "POST"): Row(
        WORKERS, P.DATASETS_WRITE, {"changes": [{"op": "delete", "path": "x"}]}
    ),
    ("-tree", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-diff", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-file", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-refs", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-tag", "PUT"): Row(WORKERS, P.DATASETS_WRITE, {"revision": "1", "may_move": True}),
    ("-tag", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-branches", "POST"): Row(WORKERS, P.DATASETS_WRITE, {"name": "fresh"}),
    ("-branch", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-contents", "POST"): Row(WORKERS, P.DATASETS_WRITE, {"sha256": []}),
    ("-contents", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-contents-batch", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-downloads", "POST"): Row(VIEWERS, P.DATASETS_READ, {"paths": ["x"]}),
    ("-uploads", "POST"): Row(WORKERS, P.DATASETS_WRITE),
    ("-upload", "PATCH"): Row(frozenset({"ben"}), P.DATASETS_WRITE),  # his own
    ("-upload", "DELETE"): Row(frozenset({"ben"}), P.DATASETS_WRITE),
}
WORKSPACE = {
    ("s", "GET"): Row(EVERYBODY, None),  # a list of what is visible
    ("s", "POST"): Row(WORKERS, P.DATASETS_WRITE, {"team": "vision", "name": "fresh"}),
    ("s-trash", "GET"): Row(EVERYBODY, None),  # likewise
    ("s-trash-entry", "POST"): Row(WORKERS, P.DATASETS_WRITE),
    ("s-trash-entry", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("", "PATCH"): Row(WORKERS, P.DATASETS_WRITE, {"description": "new"}),
    ("", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-team", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-team", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-person", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-person", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-tree", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-file", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-file", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-file", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-folder", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-moves", "POST"): Row(WORKERS, P.DATASETS_WRITE, {"source": "x", "target": "y"}),
    ("-uploads", "POST"): Row(WORKERS, P.DATASETS_WRITE),
    ("-upload", "PATCH"): Row(frozenset({"ben"}), P.DATASETS_WRITE),  # his own
    ("-upload", "DELETE"): Row(frozenset({"ben"}), P.DATASETS_WRITE),
}
TABLE: dict[tuple[str, str], Row] = {
    ("api-me", "GET"): Row(EVERYBODY, None),
    ("api-orgs", "GET"): Row(EVERYBODY, None),
    ("api-orgs", "POST"): Row(
        OPERATORS, P.PLATFORM_ADMIN, {"slug": "fresh", "owner": "new@fresh.example"}
    ),
    ("api-org", "GET"): Row(EVERYBODY, P.TEAMS_READ),
    ("api-applications", "GET"): Row(OPERATORS, P.APPLICATIONS_READ),
    ("api-applications", "POST"): Row(
        OPERATORS,
        P.APPLICATIONS_WRITE,
        {"client_id": "harbor", "addresses": ["https://harbor.example/c/oidc/callback"]},
    ),
    ("api-application", "GET"): Row(OPERATORS, P.APPLICATIONS_READ),
    ("api-application", "PATCH"): Row(OPERATORS, P.APPLICATIONS_WRITE, {"name": "Grafana 2"}),
    ("api-application", "DELETE"): Row(OPERATORS, P.APPLICATIONS_WRITE),
    ("api-application-secret", "POST"): Row(OPERATORS, P.APPLICATIONS_WRITE),
    ("api-org", "PATCH"): Row(OWNERS, P.ORG_ADMIN, {"requires_second_factor": False}),
    ("api-teams", "GET"): Row(EVERYBODY, P.TEAMS_READ),
    ("api-teams", "POST"): Row(PEOPLE, P.TEAMS_WRITE, {"slug": "fresh"}),
    ("api-team", "GET"): Row(EVERYBODY, P.TEAMS_READ),
    ("api-team-rules", "GET"): Row(EVERYBODY, P.TEAMS_READ),
    ("api-team-rules", "PUT"): Row(ADMINS, P.QUOTAS_WRITE, {"max_gpus": 4}),
    ("api-team", "PATCH"): Row(PEOPLE, P.TEAMS_WRITE, {"name": "Sight"}),
    ("api-team-members", "GET"): Row(INSIDERS, P.MEMBERS_READ),
    ("api-team-members", "POST"): Row(
        LEADS | PEOPLE, P.MEMBERS_WRITE, {"email": "eve@atlas.example"}
    ),
    ("api-team-member", "PATCH"): Row(LEADS | PEOPLE, P.MEMBERS_WRITE, {"role": "viewer"}),
    ("api-team-member", "DELETE"): Row(LEADS | PEOPLE, P.MEMBERS_WRITE),
    ("api-members", "GET"): Row(INSIDERS, P.MEMBERS_READ),
    ("api-members", "POST"): Row(PEOPLE, P.MEMBERS_WRITE, {"email": "new@atlas.example"}),
    ("api-member", "PATCH"): Row(PEOPLE, P.MEMBERS_WRITE, {"role": "member"}),
    ("api-member", "DELETE"): Row(PEOPLE, P.MEMBERS_WRITE),
    ("api-roles", "GET"): Row(INSIDERS, P.MEMBERS_READ),
    ("api-roles", "POST"): Row(
        PEOPLE, P.ROLES_WRITE, {"slug": "helpdesk", "permissions": ["members:write"]}
    ),
    ("api-role", "GET"): Row(INSIDERS, P.MEMBERS_READ),
    ("api-role", "PATCH"): Row(PEOPLE, P.ROLES_WRITE, {"name": "Trainers"}),
    ("api-role", "DELETE"): Row(PEOPLE, P.ROLES_WRITE),
    ("api-access", "GET"): Row(
        EVERYBODY, None
    ),  # about oneself; for others see tests/workspaces/access
    ("api-access-changes", "POST"): Row(
        PEOPLE, P.MEMBERS_WRITE, {"changes": [{"email": "ben@atlas.example", "role": None}]}
    ),
    ("api-tokens", "GET"): Row(EVERYBODY, P.TOKENS_READ),
    ("api-tokens", "POST"): Row(
        EVERYBODY, P.TOKENS_WRITE, {"name": "mine", "scopes": ["tokens:write"]}
    ),
    ("api-providers", "GET"): Row(ADMINS, P.PROVIDERS_READ),
    ("api-providers", "POST"): Row(
        OWNERS, P.PROVIDERS_WRITE, {"kind": "ldap", "slug": "fresh", "options": LDAP}
    ),
    ("api-provider-try", "POST"): Row(OWNERS, P.PROVIDERS_WRITE, {"kind": "ldap", "options": LDAP}),
    ("api-provider", "GET"): Row(ADMINS, P.PROVIDERS_READ),
    ("api-provider", "PATCH"): Row(OWNERS, P.PROVIDERS_WRITE, {"is_enabled": False}),
    ("api-provider", "DELETE"): Row(OWNERS, P.PROVIDERS_WRITE),
    ("api-provider-test", "POST"): Row(OWNERS, P.PROVIDERS_WRITE),
    ("api-provider-scim-token", "POST"): Row(OWNERS, P.PROVIDERS_WRITE),
    ("api-provider-scim-token", "DELETE"): Row(OWNERS, P.PROVIDERS_WRITE),
    ("api-provider-rules", "GET"): Row(ADMINS, P.PROVIDERS_READ),
    ("api-provider-rules", "PUT"): Row(
        OWNERS, P.PROVIDERS_WRITE, {"rules": [{"group": "*", "role": "member"}]}
    ),
    ("api-provider-groups", "GET"): Row(OWNERS, P.PROVIDERS_WRITE),
    ("api-provider-runs", "GET"): Row(ADMINS, P.PROVIDERS_READ),
    ("api-provider-runs", "POST"): Row(OWNERS, P.PROVIDERS_WRITE, {"is_dry": True}),
    ("api-provider-run", "GET"): Row(ADMINS, P.PROVIDERS_READ),
    ("api-provider-test-answer", "GET"): Row(OWNERS, P.PROVIDERS_WRITE),
    ("api-token", "DELETE"): Row(PEOPLE | {"ben"}, P.TOKENS_WRITE),
    ("api-sessions", "GET"): Row(EVERYBODY, None),
    ("api-sessions", "DELETE"): Row(EVERYBODY, None),
    ("api-session", "DELETE"): Row(frozenset(), None),  # only one's own: those of others are 404
    ("api-invitations", "GET"): Row(PEOPLE, P.MEMBERS_WRITE),
    ("api-invitations", "POST"): Row(PEOPLE, P.MEMBERS_WRITE, {"email": "new@atlas.example"}),
    ("api-invitation", "DELETE"): Row(PEOPLE, P.MEMBERS_WRITE),
    ("api-invitation-renew", "POST"): Row(PEOPLE, P.MEMBERS_WRITE),
    ("api-people-import", "POST"): Row(
        PEOPLE, P.MEMBERS_WRITE, {"csv": "email\nnew@atlas.example"}
    ),
    ("api-token-rotate", "POST"): Row(
        frozenset({"ben"}), P.TOKENS_WRITE
    ),  # rotating a token returns all of its permissions
    ("api-service-accounts", "GET"): Row(INSIDERS, P.MEMBERS_READ),
    ("api-service-accounts", "POST"): Row(PEOPLE, P.MEMBERS_WRITE, {"name": "fresh"}),
    ("api-service-account", "GET"): Row(INSIDERS, P.MEMBERS_READ),
    ("api-service-account", "PATCH"): Row(PEOPLE, P.MEMBERS_WRITE, {"note": "builds"}),
    ("api-service-account", "DELETE"): Row(PEOPLE, P.MEMBERS_WRITE),
    ("api-service-tokens", "GET"): Row(PEOPLE, P.MEMBERS_WRITE),
    ("api-service-tokens", "POST"): Row(
        PEOPLE, P.MEMBERS_WRITE, {"name": "ci", "scopes": ["members:write"]}
    ),
    ("api-secrets", "GET"): Row(EVERYBODY, None),  # a list of what is visible, possibly empty
    ("api-secret", "PUT"): Row(WORKERS, P.SECRETS_WRITE, {"value": "x"}),
    ("api-secret", "DELETE"): Row(WORKERS, P.SECRETS_WRITE),
    ("api-secret-version", "DELETE"): Row(WORKERS, P.SECRETS_WRITE),
    ("api-quotas", "GET"): Row(EVERYBODY, P.QUOTAS_READ),
    ("api-quotas", "PUT"): Row(
        ADMINS,
        P.QUOTAS_WRITE,
        {"scope": "team", "subject": "vision", "resource": "gpu", "limit": 1},
    ),
    ("api-quotas", "PATCH"): Row(
        ADMINS,
        P.QUOTAS_WRITE,
        {"changes": [{"scope": "team", "subject": "vision", "resource": "gpu", "limit": 1}]},
    ),
    ("api-quotas-preview", "POST"): Row(
        ADMINS,
        P.QUOTAS_WRITE,
        {"changes": [{"scope": "team", "subject": "vision", "resource": "gpu", "limit": 1}]},
    ),
    ("api-approvals", "GET"): Row(EVERYBODY, None),  # a list of what is visible
    ("api-approval", "GET"): Row(VIEWERS, None),
    ("api-approval", "POST"): Row(WORKERS, P.JOBS_SUBMIT, {"do": "withdraw"}),
    ("api-quota-requests", "GET"): Row(EVERYBODY, P.QUOTAS_READ),
    ("api-quota-requests", "POST"): Row(
        WORKERS,
        P.JOBS_SUBMIT,
        {"scope": "team", "subject": "vision", "resource": "jobs", "amount": 2000},
    ),
    ("api-quota-request", "POST"): Row(ADMINS, P.QUOTAS_WRITE, {"do": "decline"}),
    ("api-audit", "GET"): Row(ADMINS, P.AUDIT_READ),
    ("api-audit-export", "GET"): Row(ADMINS, P.AUDIT_READ),
    ("api-audit-chain", "GET"): Row(ADMINS, P.AUDIT_READ),
    ("api-audit-verify", "POST"): Row(ADMINS, P.AUDIT_READ),
    ("api-audit-settings", "GET"): Row(ADMINS, P.AUDIT_READ),
    ("api-audit-settings", "PUT"): Row(OWNERS, P.ORG_ADMIN, {"keep_days": 90}),
    ("api-audit-forwards", "POST"): Row(
        OWNERS, P.ORG_ADMIN, {"target": "syslog+tls://log.example:6514"}
    ),
    ("api-audit-forward", "POST"): Row(OWNERS, P.ORG_ADMIN),
    ("api-audit-forward", "DELETE"): Row(OWNERS, P.ORG_ADMIN),
    ("api-platform-audit-settings", "GET"): Row(OPERATORS, P.AUDIT_PLATFORM),
    ("api-platform-audit-settings", "PUT"): Row(OPERATORS, P.AUDIT_PLATFORM, {"keep_days": None}),
    ("api-platform-audit-forwards", "POST"): Row(
        OPERATORS, P.AUDIT_PLATFORM, {"target": "https://hook.example/"}
    ),
    ("api-platform-audit-forward", "POST"): Row(OPERATORS, P.AUDIT_PLATFORM),
    ("api-platform-audit-forward", "DELETE"): Row(OPERATORS, P.AUDIT_PLATFORM),
    ("api-platform-audit", "GET"): Row(OPERATORS, P.AUDIT_PLATFORM),
    ("api-platform-audit-export", "GET"): Row(OPERATORS, P.AUDIT_PLATFORM),
    ("api-platform-audit-chain", "GET"): Row(OPERATORS, P.AUDIT_PLATFORM),
    ("api-platform-audit-verify", "POST"): Row(OPERATORS, P.AUDIT_PLATFORM),
    ("api-storage", "GET"): Row(EVERYBODY, None),  # likewise
    ("api-storage-use", "GET"): Row(EVERYBODY, None),  # likewise
    ("api-lineage", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("api-jobs", "GET"): Row(EVERYBODY, None),  # a list of what is visible, possibly empty
    ("api-jobs", "POST"): Row(WORKERS, P.JOBS_SUBMIT, SPEC),
    ("api-jobs-validate", "POST"): Row(EVERYBODY, None, {"yaml": "run: true"}),
    ("api-jobs-options", "GET"): Row(WORKERS, P.JOBS_SUBMIT),
    ("api-jobs-compare", "GET"): Row(EVERYBODY, None),  # compares what is visible
    ("api-job", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job", "PATCH"): Row(WORKERS, P.JOBS_CANCEL, {"name": "renamed"}),
    ("api-job-cancel", "POST"): Row(WORKERS, P.JOBS_CANCEL),
    ("api-job-hold", "POST"): Row(WORKERS, P.JOBS_CANCEL),
    ("api-job-release", "POST"): Row(WORKERS, P.JOBS_CANCEL),
    ("api-job-rerun", "POST"): Row(WORKERS, P.JOBS_SUBMIT),
    ("api-job-pending", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-attempts", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-events", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-logs", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-logs", "DELETE"): Row(WORKERS, P.JOBS_CANCEL),
    ("api-job-log-download", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-log-certificate", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-log-search", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-metrics", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-metrics", "POST"): Row(
        WORKERS, P.JOBS_WRITE_METRICS, {"points": [{"name": "loss", "value": 1}]}
    ),
    ("api-job-event-files", "POST"): Row(WORKERS, P.JOBS_WRITE_METRICS),
    ("api-job-outputs", "GET"): Row(VIEWERS, P.JOBS_READ),
    # only the job itself, by its token: tests/jobs/test_saving.py
    ("api-job-output", "POST"): Row(NOBODY, P.DATASETS_WRITE),
    ("api-job-output", "PATCH"): Row(NOBODY, P.DATASETS_WRITE),
    ("api-job-output-versions", "POST"): Row(NOBODY, P.DATASETS_WRITE, {"files": []}),
    ("api-job-exec", "POST"): Row(ADMINS | {"ben"}, P.JOBS_EXEC, {"argv": ["true"]}),
    ("api-experiments", "GET"): Row(EVERYBODY, None),  # a list of what is visible
    ("api-experiments", "POST"): Row(
        WORKERS, P.EXPERIMENTS_WRITE, {"team": "vision", "name": "fresh"}
    ),
    ("api-experiment", "GET"): Row(VIEWERS, P.EXPERIMENTS_READ),
    ("api-experiment", "PATCH"): Row(WORKERS, P.EXPERIMENTS_WRITE, {"description": "new"}),
    ("api-experiment", "DELETE"): Row(WORKERS, P.EXPERIMENTS_WRITE),
    ("api-experiment-restore", "POST"): Row(WORKERS, P.EXPERIMENTS_WRITE),
    ("api-experiment-runs", "GET"): Row(VIEWERS, P.EXPERIMENTS_READ),
    ("api-runs", "GET"): Row(EVERYBODY, None),  # likewise
    ("api-runs", "POST"): Row(WORKERS, P.EXPERIMENTS_WRITE, {"experiment": 1}),
    ("api-runs-act", "POST"): Row(
        WORKERS, P.EXPERIMENTS_WRITE, {"do": "archive", "runs": [VALUES["run"]]}
    ),
    ("api-runs-import", "POST"): Row(
        WORKERS,
        P.EXPERIMENTS_WRITE,
        {
            "experiment": 1,
            "server": "https://mlflow.example",
            "run_id": "0123456789abcdef0123456789abcdef",
            "status": "FINISHED",
            "started_ms": 1,
        },
    ),
    ("api-runs-compare", "GET"): Row(EVERYBODY, None),  # compares what is visible
    ("api-run", "GET"): Row(VIEWERS, P.EXPERIMENTS_READ),
    ("api-run", "PATCH"): Row(WORKERS, P.EXPERIMENTS_WRITE, {"name": "renamed"}),
    ("api-run", "DELETE"): Row(WORKERS, P.EXPERIMENTS_WRITE),
    ("api-run-metrics", "GET"): Row(VIEWERS, P.EXPERIMENTS_READ),
    ("api-run-log", "POST"): Row(
        WORKERS, P.EXPERIMENTS_WRITE, {"metrics": [{"name": "loss", "value": 1}]}
    ),
    ("api-run-artifacts", "GET"): Row(VIEWERS, P.EXPERIMENTS_READ),
    ("api-run-artifact", "GET"): Row(VIEWERS, P.EXPERIMENTS_READ),
    ("api-run-artifact", "PUT"): Row(WORKERS, P.EXPERIMENTS_WRITE),
    ("api-run-artifact", "DELETE"): Row(WORKERS, P.EXPERIMENTS_WRITE),
    ("api-models", "GET"): Row(EVERYBODY, None),  # a list of what is visible
    ("api-models", "POST"): Row(WORKERS, P.MODELS_WRITE, {"team": "vision", "name": "fresh"}),
    ("api-models-trash", "GET"): Row(EVERYBODY, None),  # likewise
    ("api-models-trash-entry", "POST"): Row(WORKERS, P.MODELS_WRITE),
    ("api-models-trash-entry", "DELETE"): Row(WORKERS, P.MODELS_WRITE),
    ("api-model", "GET"): Row(VIEWERS, P.MODELS_READ),
    ("api-model", "PATCH"): Row(WORKERS, P.MODELS_WRITE, {"description": "new"}),
    ("api-model", "DELETE"): Row(WORKERS, P.MODELS_WRITE),
    ("api-model-alias", "PUT"): Row(WORKERS, P.MODELS_WRITE, {"version": 1}),
    ("api-model-alias", "DELETE"): Row(WORKERS, P.MODELS_WRITE),
    ("api-model-versions", "GET"): Row(VIEWERS, P.MODELS_READ),
    ("api-model-versions", "POST"): Row(WORKERS, P.MODELS_WRITE),
    ("api-model-version", "GET"): Row(VIEWERS, P.MODELS_READ),
    ("api-model-version", "PATCH"): Row(WORKERS, P.MODELS_WRITE, {"description": "new"}),
    ("api-model-version", "DELETE"): Row(WORKERS, P.MODELS_WRITE),
    ("api-model-finish", "POST"): Row(WORKERS, P.MODELS_WRITE),
    ("api-model-files", "GET"): Row(VIEWERS, P.MODELS_READ),
    ("api-model-file", "GET"): Row(VIEWERS, P.MODELS_READ),
    ("api-model-file", "PUT"): Row(WORKERS, P.MODELS_WRITE),
    ("api-model-approval", "POST"): Row(WORKERS, P.MODELS_WRITE, {"do": "request"}),
    ("api-model-stage", "PUT"): Row(WORKERS, P.MODELS_WRITE, {"stage": "Staging"}),
    ("api-model-promote", "POST"): Row(ADMINS, P.MODELS_WRITE, {"team": "speech"}),
    **{
        (f"api-{kind}{name}", verb): row
        for kind in ("dataset", "checkpoint")
        for (name, verb), row in REPOSITORY.items()
    },
    **{(f"api-workspace{name}", verb): row for (name, verb), row in WORKSPACE.items()},
    ("api-gpu-time", "GET"): Row(EVERYBODY, None),
    ("api-idle-gpus", "GET"): Row(EVERYBODY, None),
    ("api-nodes", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-capacity", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-fleet", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-gpus", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-gpu", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-wall", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-node", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-node-metrics", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-platform-wall", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-platform-node-metrics", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-telemetry-sources", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-telemetry-sources", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE, {"name": "fresh"} | SOURCE),
    ("api-telemetry-test", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE, SOURCE),
    ("api-telemetry-source", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-telemetry-source", "PATCH"): Row(OPERATORS, P.CLUSTERS_WRITE, {"interval": 60}),
    ("api-telemetry-source", "DELETE"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-telemetry-source-test", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-telemetry-source-history", "POST"): Row(
        OPERATORS, P.CLUSTERS_WRITE, {"since": A_WEEK_AGO}
    ),
    ("api-clusters", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-clusters", "POST"): Row(
        OPERATORS, P.CLUSTERS_WRITE, {"name": "fresh", "backend": "local"}
    ),
    ("api-cluster-try", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE, {"backend": "local"}),
    ("api-cluster", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-cluster", "PATCH"): Row(OPERATORS, P.CLUSTERS_WRITE, {"is_enabled": False}),
    ("api-cluster", "DELETE"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-cluster-test", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-cluster-nodes", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-node-drain", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE, {"reason": "fan"}),
    ("api-node-resume", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-mig-plans", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-mig-plans", "POST"): Row(
        OPERATORS, P.CLUSTERS_WRITE, {"cluster": "local", "wish": {"1g.10gb": 1}}
    ),
    ("api-mig-plan", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-mig-plan", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE, {"do": "discard"}),
    ("api-mig-settings", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-mig-settings", "PUT"): Row(OPERATORS, P.CLUSTERS_WRITE, {"nodes_at_once": 2}),
    ("api-cluster-health", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-cluster-health", "PATCH"): Row(OPERATORS, P.CLUSTERS_WRITE, {"most_percent": 20}),
    ("api-cluster-health-reset", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-node-health", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-node-quarantine", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE, {"reason": "fan"}),
    ("api-node-return", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-pools", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-usage", "GET"): Row(EVERYBODY, None),  # of teams that are visible
    ("api-waste", "GET"): Row(EVERYBODY, None),
    ("api-cost", "GET"): Row(EVERYBODY, None),
    ("api-fleet-usage", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-budgets", "GET"): Row(EVERYBODY, None),
    ("api-budgets", "PUT"): Row(ADMINS, P.QUOTAS_WRITE, {"team": "vision", "amount": "500"}),
    ("api-budgets", "DELETE"): Row(ADMINS, P.QUOTAS_WRITE),
    ("api-statements", "GET"): Row(ADMINS | {"bea"}, P.BILLING_READ),
    ("api-statements", "POST"): Row(OPERATORS, P.PLATFORM_ADMIN, {"month": "2026-09"}),
    ("api-statement", "GET"): Row(ADMINS | {"bea"}, P.BILLING_READ),
    ("api-prices", "GET"): Row(OPERATORS, P.PLATFORM_ADMIN),
    ("api-prices", "POST"): Row(
        OPERATORS,
        P.PLATFORM_ADMIN,
        {"resource": "gpu.h100", "amount": "2.5", "currency": "USD"},
    ),
    ("api-price", "DELETE"): Row(OPERATORS, P.PLATFORM_ADMIN),
    ("api-billing-account", "GET"): Row(ADMINS | {"bea"}, P.BILLING_READ),
    ("api-billing-account", "PUT"): Row(
        OPERATORS, P.PLATFORM_ADMIN, {"currency": "EUR", "mode": "chargeback"}
    ),
    ("api-discounts", "POST"): Row(OPERATORS, P.PLATFORM_ADMIN, {"percent": "10"}),
    ("api-credits", "POST"): Row(OPERATORS, P.PLATFORM_ADMIN, {"amount": "100"}),
    ("api-pool-requests", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-pool-requests", "POST"): Row(
        WORKERS, P.JOBS_SUBMIT, {"team": "vision", "gpu_type": "mig-1g.10gb", "gpus": 1} | LATER
    ),
    ("api-pool-request", "GET"): Row(VIEWERS, P.NODES_READ),
    ("api-pool-request", "POST"): Row(WORKERS, P.JOBS_SUBMIT, {"do": "withdraw"}),
    ("api-pools", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE, {"name": "fresh", "cluster": "local"}),
    ("api-pool", "PATCH"): Row(OPERATORS, P.CLUSTERS_WRITE, {"note": "for all"}),
    ("api-pool", "DELETE"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-pool-idle-rule", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-pool-idle-rule", "PUT"): Row(OPERATORS, P.CLUSTERS_WRITE, {"window": 30}),
    ("api-pool-idle-rule", "DELETE"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-pool-idle-jobs", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-job-keep", "POST"): Row(WORKERS, P.JOBS_CANCEL, {"hours": 2}),
    ("api-notifications", "GET"): Row(EVERYBODY, None),
    ("api-notifications", "POST"): Row(EVERYBODY, None),
    ("api-notification-settings", "GET"): Row(EVERYBODY, None),
    ("api-notification-settings", "PATCH"): Row(EVERYBODY, None, {"pace": "daily"}),
    ("api-notification-channels", "GET"): Row(EVERYBODY, None),
    ("api-notification-channels", "POST"): Row(EVERYBODY, None, HOOK),
    ("api-notification-channel", "GET"): Row(frozenset({"ada"}), None),  # her own
    ("api-notification-channel", "PATCH"): Row(frozenset({"ada"}), None, {"name": "new"}),
    ("api-notification-channel", "DELETE"): Row(frozenset({"ada"}), None),
    ("api-notification-channel-test", "POST"): Row(frozenset({"ada"}), None),
    ("api-notification-channel-redeliver", "POST"): Row(frozenset({"ada"}), None),
    ("api-pool-team", "PUT"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-pool-team", "DELETE"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-agent-samples", "POST"): Row(frozenset({"dot"}), P.AGENT_WRITE),
    **matrix.entries("ROWS"),
}
WRITING_PAGES = {
    "teams": (PEOPLE, {"slug": "fresh", "name": "Fresh"}),
    "members": (PEOPLE, {"email": "new@atlas.example", "role": "member"}),
    "team": (LEADS | PEOPLE, {"email": "eve@atlas.example", "role": "member"}),
    "team-member": (LEADS | PEOPLE, {"role": "viewer"}),
    "member": (PEOPLE, {"role": "member"}),
    "roles": (PEOPLE, {"slug": "helpdesk", "kind": "org", "permissions": "members:write"}),
    "role": (PEOPLE, {"do": "save", "name": "Trainers", "permissions": "teams:read"}),
    "invitations": (PEOPLE, {"email": "new@atlas.example"}),
    "announcements": (OWNERS, {"text": "Maintenance tonight", "level": "warning"}),
    "people-import": (PEOPLE, {"do": "import", "text": "email,team\nnew@atlas.example,vision"}),
    "service-accounts": (PEOPLE, {"name": "fresh"}),
    "service-account": (PEOPLE, {"do": "remove"}),
    "secrets": (WORKERS, {"do": "set", "where": "vision", "name": "wandb", "value": "x"}),
    "audit": (ADMINS, {"do": "verify"}),
    "audit-installation": (OPERATORS, {"do": "verify"}),
    "quotas": (ADMINS, {"who": "team:vision", "resource": "gpu", "limit": "1"}),
    "team-rules": (ADMINS, {"max_gpus": "4"}),
    "pool-requests": (
        WORKERS,
        {"team": "vision", "gpu_type": "mig-1g.10gb", "gpus": "1", "ends_at": "2027-06-01"},
    ),
    "pool-request": (WORKERS, {"do": "withdraw"}),
    "approval": (WORKERS, {"do": "withdraw"}),
    "quota-requests": (WORKERS, {"who": "team:vision", "resource": "jobs", "amount": "2000"}),
    "quota-request": (ADMINS, {"do": "decline"}),
    "directories": (OWNERS, {"kind": "ldap", "slug": "fresh", "anyway": "1", **LDAP}),
    "directory-edit": (OWNERS, {"title": "Other", "anyway": "1", **LDAP}),
    "directory-rules": (OWNERS, {"group": "*", "place": "atlas", "role": "viewer"}),
    "directory-other-side": (OWNERS, {"do": "end"}),
    "directory-act": (OWNERS, {"do": "disable"}),
    "platform-organizations": (
        OPERATORS,
        {"slug": "fresh", "name": "Fresh", "email": "new@fresh.example"},
    ),
    "platform-telemetry": (OPERATORS, {"name": "fresh"} | SOURCE),
    "platform-telemetry-source": (OPERATORS, {"do": "disable"}),
    "platform-person": (OPERATORS, {"do": "suspend", "why": "left the company"}),
    "platform-act": (OPERATORS, {"why": "sees no jobs", "minutes": "5"}),
    "guide": (OWNERS, {"do": "name", "name": "Atlas Research"}),
    "job-act": (WORKERS, {}),
    "idle": (WORKERS, {"do": "cancel", "job": "1"}),
    "cluster": (OPERATORS, {"do": "disable"}),
    "mig-plans": (OPERATORS, {"cluster": "local", "wish": "1 x 1g.10gb"}),
    "mig-plan": (OPERATORS, {"do": "discard"}),
    "pools": (OPERATORS, {"name": "fresh", "cluster": "local"}),
    "pool": (OPERATORS, {"do": "change", "note": "for all"}),
    "pool-idle-rule": (
        OPERATORS,
        {"metric": "auto", "threshold": "5", "window": "60", "action": "warn", "grace": "30"},
    ),
    "notification-settings": (EVERYBODY, {"pace": "hourly", "daily_at": "09:00"}),
    "notification-channels": (EVERYBODY, HOOK),
    "notification-channel": (frozenset({"ada"}), {"do": "disable"}),
    "experiments": (WORKERS, {"team": "vision", "name": "fresh"}),
    "experiment-act": (WORKERS, {"verb": "edit", "name": "renamed"}),
    "experiment-runs-act": (WORKERS, {"verb": "archive", "run": VALUES["run"]}),
    "run-act": (WORKERS, {"verb": "rename", "name": "renamed"}),
    "model-new": (WORKERS, {"team": "vision", "name": "fresh"}),
    "models-trash": (WORKERS, {"do": "restore", "model": VALUES["trashed"]}),
    "model": (WORKERS, {"do": "alias-delete", "alias": "champion"}),
    "model-version": (WORKERS, {"do": "request"}),
    "datasets": (WORKERS, {"team": "vision", "name": "fresh"}),
    "checkpoints": (WORKERS, {"team": "vision", "name": "fresh"}),
    "repository-trash": (WORKERS, {"do": "restore", "repository": VALUES["trashed"]}),
    "repository-retention": (ADMINS, {"do": "save", "keep_last": "3", "keep_days": "0"}),
    "repository": (WORKERS, {"path": "x"}),
    "repository-folder": (WORKERS, {"path": "x"}),
    "repository-upload": (WORKERS, {"files": SimpleUploadedFile("y", b"new")}),
    "repository-imports": (
        WORKERS,
        {"do": "start", "from": "http", "source": "https://example.org/train.tar"},
    ),
    "repository-versions": (WORKERS, {"do": "tag", "version": "1", "name": "fresh"}),
    "repository-settings": (WORKERS, {"do": "save", "description": "new"}),
    "workspaces": (WORKERS, {"team": "vision", "name": "fresh"}),
    "workspaces-trash": (WORKERS, {"do": "restore", "workspace": VALUES["trashed"]}),
    "workspace": (WORKERS, {"do": "delete", "path": "x"}),
    "workspace-folder": (WORKERS, {"do": "move", "path": "x", "target": "y"}),
    "workspace-share": (WORKERS, {"do": "invite", "with": "team:speech"}),
    "workspace-settings": (WORKERS, {"do": "save", "description": "new"}),
    "applications": (
        OPERATORS,
        {"client_id": "harbor", "addresses": "https://harbor.example/c/oidc/callback"},
    ),
    "application": (OPERATORS, {"verb": "remove"}),
    "cluster-edit": (OPERATORS, {"do": "save", "anyway": "1"}),
    "usage-cost": (ADMINS, {"team": "vision", "amount": "700"}),
    "platform-prices": (
        OPERATORS,
        {"resource": "cpu", "amount": "0.02", "currency": "USD", "starts_on": "2026-09-01"},
    ),
    "platform-accounts": (
        OPERATORS,
        {"org": "atlas", "do": "account", "currency": "EUR", "mode": "showback"},
    ),
    "platform-statements": (OPERATORS, {"org": "atlas", "month": "2026-08"}),
    **matrix.entries("FORMS"),
}


@dataclass
class Stage:
    """The people, and Ben's job #1 and token, to which the rows refer."""

    story: Story
    people: dict[str, User]
    token_id: str = ""
    invitation_id: str = ""
    tokens: dict[str, str] = field(default_factory=dict)  # of everybody, with all scopes

    def api(self, name: str, *scopes: str) -> Client:
        if scopes:
            return self.story.api(self.people[name], self.story.atlas, scopes=scopes)
        return Client(headers={"Authorization": f"Bearer {self.tokens[name]}"})

    def address(self, path: str) -> str:
        path = path.replace("00000000-0000-7000-8000-000000000000", self.token_id).replace(
            "/n1", "/n0"
        )
        path = path.replace("00000000-0000-7000-8000-000000000001", self.invitation_id)
        if "/checkpoints" in path:
            path = path.replace(VALUES["trashed"], _of_checkpoint("trashed"))
            path = path.replace(VALUES["upload"], _of_checkpoint("upload"))
            path = path.replace(VALUES["imported"], _of_checkpoint("imported"))
        path = path.replace("00000000-0000-7000-8000-000000000004", str(self.people["eve"].id))
        return path.replace(FORWARD, PLATFORM_FORWARD) if "/v1/audit/" in path else path


@pytest.fixture(scope="module")
def built(shared_story) -> Stage:
    """Create the data once, because there are hundreds of rows."""
    story = shared_story
    people = {name: getattr(story, name) for name in ("ada", "ben", "dot")}
    with org_scope(story.atlas.id):
        ada = story.actor(story.ada)
        for name, org_role, team, role in (
            ("amy", "admin", None, ""),
            ("lee", "member", story.vision, "lead"),
            ("vis", "member", story.vision, "viewer"),
            ("vic", "viewer", None, ""),
            ("eve", "member", story.speech, "member"),
            ("uma", "user-admin", None, ""),
            ("bea", "billing-viewer", None, ""),
        ):
            people[name] = organization_services.add_member(
                actor=ada, org=story.atlas, email=f"{name}@atlas.example", role=org_role
            ).user
            if team:
                organization_services.add_team_member(
                    actor=ada, team=team, email=f"{name}@atlas.example", role=role
                )
        pool = Pool.objects.create(name="main", cluster=cluster_with(), is_open=True)
        node = Node.objects.get(name="n0")
        Device.objects.create(
            node=node, index=0, uuid=VALUES["uuid"], model="NVIDIA H100 80GB HBM3", memory=80 << 30
        )
        TelemetrySource.objects.create(
            name="metrics", cluster=node.cluster, kind="prometheus", urls=SOURCE["urls"]
        )
        MigPlan.objects.create(
            id=VALUES["plan"], cluster=node.cluster, wish={"1g.10gb": 1}, created_by="dot"
        )
        PoolGrant.objects.create(org=story.atlas, pool=pool, team=story.vision)
        IdleRule.objects.create(pool=pool, changed_by="dot@platform.example")
        Channel.objects.create(
            id=VALUES["channel"],
            org=story.atlas,
            user=story.ada,
            kind="webhook",
            name="hook",
            host="hooks.example.org",
            url=vault.encrypt(b"https://hooks.example.org/in", "notification channels"),
        )
        Delivery.objects.create(
            id=VALUES["delivery"],
            org=story.atlas,
            channel_id=VALUES["channel"],
            event_id=VALUES["channel"],
            kind="job_failed",
            title="#1 failed",
            path="/atlas/jobs/1",
            state="sent",
        )
        PoolRequest.objects.create(
            id=VALUES["ask"],
            org=story.atlas,
            team=story.vision,
            asker=story.ben,
            gpu_type="mig-1g.10gb",
            gpus=1,
            **LATER,
        )
        Price.objects.create(
            id=VALUES["price"],
            currency="USD",
            resource="memory",
            starts_on="2026-01-01",
            amount="0.001",
        )
        Budget.objects.create(org=story.atlas, amount="1000")
        access_services.create_role(
            actor=ada, org=story.atlas, slug="trainer", kind="team", permissions=["teams:read"]
        )
        for pk, chain in ((FORWARD, story.atlas.id), (PLATFORM_FORWARD, NO_ORG)):
            AuditForward.objects.create(
                id=pk,
                chain=chain,
                target="syslog+tls://old.example:6514",
                created_by="ada@atlas.example",
            )
        ben = story.actor(story.ben)
        job_services.submit_job(actor=ben, team=story.vision, spec=parse_mapping({"run": "true"}))
        experiment = experiment_services.create_experiment(
            actor=ben, team=story.vision, name="first"
        )
        run = Run.objects.create(
            id=VALUES["run"],
            org=story.atlas,
            team=story.vision,
            owner=story.ben,
            experiment=experiment,
            name="first",
            started_ms=1,
            series_owner="run:first",
        )
        artifacts.put(ben, run, "x", [b"bytes"])
        _add_models(story)
        _add_repositories(story)
        _add_workspaces(story)
        for add in matrix.builders():
            add(story)
        for value in ("first", "second"):
            secrets.set_secret(
                actor=ada, org=story.atlas, team=story.vision, name="wandb", value=value
            )
        set_limits.set_quota(
            actor=ada, org=story.atlas, scope="team", subject="vision", resource="jobs", limit=1000
        )
        ada_asks = {
            "asker": story.ada,
            "scope": "team",
            "subject_id": story.speech.id,
            "subject": "speech",
            "resource": "gpu",
            "amount": 9,
        }
        QuotaRequest.objects.create(
            id="00000000-0000-7000-8000-000000000021", org=story.atlas, **ada_asks
        )
        service_accounts.create_service_account(actor=ada, org=story.atlas, name="nightly")
        invited = invitations.invite(actor=ada, org=story.atlas, email="ina@atlas.example")
        corp = Provider.objects.create(
            org=story.atlas, kind="ldap", slug="corp", name="Corp", config=LDAP
        )
        DirectoryRun.objects.create(id=VALUES["run"], provider=corp, outcome="failed")
        ProviderTest.objects.create(
            id=VALUES["test"],
            org=story.atlas,
            provider=corp,
            kind="ldap",
            actor=ada.email,
            ended_at=clock.now(),
        )
        ScimToken.objects.create(provider=corp, digest="0", hint="mst_0000")
        made = tokens_services.create_token(actor=ben, org=story.atlas, name="bens", scopes=["all"])
        create_application(
            actor=story.actor(story.dot, story.atlas),
            client_id="grafana",
            name="",
            addresses=["https://grafana.example/login"],
        )
    tokens = {name: story.token(person, story.atlas) for name, person in people.items()}
    return Stage(story, people, str(made.row.id), str(invited.row.id), tokens)


def _add_models(story: Story) -> None:
    """Create a model with two versions, and one in the trash."""
    ben = story.actor(story.ben)
    for name in ("digits", "trashed"):
        row = model_services.create_model(
            actor=ben, team=story.vision, name=name, description="A card."
        )
        if name == "trashed":
            model_services.delete_model(actor=ben, model=row)
            RegisteredModel.objects.filter(id=row.id).update(id=VALUES["trashed"])
            continue
        for _ in range(2):
            version = model_services.start_upload(actor=ben, model=row, about=About())
            model_services.put_file(actor=ben, version=version, path="x", chunks=[b"bytes"])
            version = model_services.finish_upload(actor=ben, version=version)
        model_services.set_alias(actor=ben, version=version, alias="champion")


def _of_checkpoint(name: str) -> str:
    return VALUES[name].replace("-0000000000", "-0000000001")


def _add_repositories(story: Story) -> None:
    """Create a dataset and a checkpoint, each with two versions, and one in the trash."""
    ben = story.actor(story.ben)
    for kind in ("dataset", "checkpoint"):
        given = VALUES if kind == "dataset" else {n: _of_checkpoint(n) for n in VALUES}
        made = {"actor": ben, "team": story.vision, "kind": kind}
        trashed = dataset_services.create_repository(name="trashed", **made)
        dataset_services.delete_repository(actor=ben, repository=trashed)
        Ref.objects.filter(repository=trashed).delete()
        Repository.objects.filter(id=trashed.id).update(id=given["trashed"])
        row = dataset_services.create_repository(name="cifar", **made)
        for data in (b"1", b"2"):
            stored = dataset_services.put_file(actor=ben, repository=row, chunks=[data])
            changes = [dataset_services.Add("x", stored.sha256)]
            version = dataset_services.commit(
                actor=ben, repository=row, changes=changes, message=""
            )
        dataset_services.set_tag(actor=ben, repository=row, name="v1", version=version)
        dataset_services.create_branch(actor=ben, repository=row, name="try", version=version)
        upload = dataset_services.start_upload(actor=ben, repository=row, size=1)
        Upload.objects.filter(id=upload.id).update(id=given["upload"])
        file_store().start(row.org_id, UUID(given["upload"]))
        imported = dataset_services.start_import(
            actor=ben, repository=row, source="https://example.org/a"
        )
        Import.objects.filter(id=imported.id).update(id=given["imported"])


def _add_workspaces(story: Story) -> None:
    """Create a workspace with a file and an upload, and one in the trash."""
    ben = story.actor(story.ben)
    trashed = folders.create_folder(actor=ben, team=story.vision, name="trashed")
    folders.delete_folder(actor=ben, folder=trashed)
    SharedFolder.objects.filter(id=trashed.id).update(id=VALUES["trashed"])
    row = folders.create_folder(actor=ben, team=story.vision, name="code")
    upload = entries.start_upload(actor=ben, folder=row, path="z", size=1)
    FolderUpload.objects.filter(id=upload.id).update(id=VALUES["upload"])
    refill_workspaces()


@pytest.fixture
def stage(built, undone) -> Stage:
    return built


def refill_workspaces() -> None:
    """Restore the files of workspaces, which no rollback does: a file x, and a started upload."""
    for folder in root_folder().glob("*/*"):
        if folder.name == ".incoming":
            (folder / UUID(VALUES["upload"]).hex).write_bytes(b"")
        else:
            (folder / "x").write_bytes(b"1")
            (folder / "y").unlink(missing_ok=True)


def tried(client: Client, verb: str, path: str, body: dict[str, Any]) -> int:
    """Return the status code, and roll back the changes."""
    if "/workspaces" in path:
        refill_workspaces()
    with transaction.atomic():
        code = client.generic(
            verb, path, json.dumps(body), content_type="application/json"
        ).status_code
        transaction.set_rollback(True)
    return code


def test_role_matrix_covers_every_route_and_verb():
    assert {(name, verb) for name, _, view in API for verb in view.permissions} == set(TABLE)


ROWS = [(name, verb, path) for name, path, view in API for verb in sorted(view.permissions)]


def _people(case: str, who_may: frozenset[str], *, is_whole: bool) -> list[str]:
    """Return everybody, or in the gate one person who may and one who may not."""
    if is_whole:
        return sorted(EVERYBODY)
    return [*choose(EVERYBODY & who_may, case), *choose(EVERYBODY - who_may, case)]


@WALKS
def test_role_matrix_matches_actual_access(stage, is_whole):
    clients = {who: stage.api(who) for who in sorted(EVERYBODY)}
    wrong = []
    for name, verb, path in ROWS:
        row = TABLE[name, verb]
        path = stage.address(path) + {
            "api-job-log-search": "?q=x",
            "api-lineage": "?of=dataset:cifar",
            "api-access": "?permission=jobs:read",
            "api-jobs-options": "?team=vision",
        }.get(name, "")
        some = _people(f"{verb} {name}", row.who, is_whole=is_whole)
        found = {who: tried(clients[who], verb, path, row.body) for who in some}
        for who, code in found.items():
            is_through, is_right = code not in REFUSED, code < 300 or code in (400, 409, *REFUSED)
            if is_through != (who in row.who) or not is_right:
                wrong.append(f"{verb} {path} by {who}: {code}")
    assert wrong == []


@WALKS
def test_token_needs_exactly_the_listed_scope(stage, is_whole):
    wrong = []
    for name, verb, path in ROWS:
        row = TABLE[name, verb]
        if row.scope is None:
            continue
        path = stage.address(path) + {
            "api-job-log-search": "?q=x",
            "api-lineage": "?of=dataset:cifar",
            "api-jobs-options": "?team=vision",
        }.get(name, "")
        who = "ben" if "ben" in row.who else "ada" if "ada" in row.who else "dot"
        others = [str(p) for p in all_permissions() if p != row.scope]
        enough = {str(row.scope)} | (
            {"jobs:read"}
            if name.startswith("api-job-")
            or name in {"api-job", "api-pool-request", "api-approval"}
            else set()
        )
        enough |= {"experiments:read"} if name.startswith(("api-run", "api-experiment")) else set()
        enough |= {"models:read"} if name.startswith("api-model") else set()
        is_repository = name.startswith(("api-dataset", "api-checkpoint", "api-workspace"))
        enough |= {"datasets:read"} if is_repository else set()
        enough |= {
            str(scope)
            for start, scope in matrix.entries("SCOPES").items()
            if name.startswith(start)
        }
        enough = (
            {"all"} if name == "api-token-rotate" else enough
        )  # rotating a token returns all of its permissions
        ways = ("without", "with")  # one of them in the gate
        tried_ways = ways if is_whole else choose(ways, verb, name)
        if (
            "without" in tried_ways
            and (code := tried(stage.api(who, *others), verb, path, row.body)) not in REFUSED
        ):
            wrong.append(f"{verb} {path} with all scopes but {row.scope}: {code}")
        if not row.who or "with" not in tried_ways:  # only the token of a job
            continue
        if (code := tried(stage.api(who, *sorted(enough)), verb, path, row.body)) in REFUSED:
            wrong.append(f"{verb} {path} with {row.scope}: {code}")
    assert wrong == []


def test_list_for_token_without_scope_is_empty(stage):
    names = ("jobs", "experiments", "runs", "models", "models-trash", "datasets", "checkpoints")
    names += ("workspaces",)
    for name in names:
        answer = stage.api("ada", "teams:read").get(f"/api/v1/orgs/atlas/{name}")
        assert answer.json()["items"] == []


@WALKS
def test_page_forms_change_data_only_for_permitted_roles(stage, is_whole):
    browser, wrong = Client(), []
    rows = [(name, path) for name, path, _ in PAGES if name in WRITING_PAGES]
    for name, path in rows:
        who_may, form = WRITING_PAGES[name]
        for who in _people(name, who_may, is_whole=is_whole):
            is_changed = _changes(browser, stage.people[who], stage.address(path), form)
            if is_changed != (who in who_may):
                wrong.append(f"{name} {path} by {who}: {'changed' if is_changed else 'refused'}")
    assert wrong == []


def _changes(browser: Client, person: User, path: str, form: dict[str, str]) -> bool:
    """Return whether sending the form recorded an event, as every change does."""
    from portal.core.models import Event

    changes = Event.objects.exclude(kind="access.denied")
    with transaction.atomic():
        refill_workspaces()
        browser.cookies.clear()
        browser.force_login(person)
        before = changes.count()
        browser.post(path, form)
        is_changed = changes.count() > before
        transaction.set_rollback(True)
    return is_changed


def test_job_pages_are_404_for_members_of_other_teams(stage):
    for who, code in (("eve", 404), ("vis", 200), ("vic", 200), ("ben", 200)):
        assert stage.story.client(stage.people[who]).get("/atlas/jobs/1").status_code == code


def test_node_page_shows_only_visible_jobs(stage):
    from jobs.models import Attempt
    from schedulers.states import State

    with platform_scope("test"):
        Attempt.objects.update(
            state=State.RUNNING,
            node="n0",
            has_reservation=True,
            placement={"node": "n0", "cpus": 1000, "memory": 0, "gpus": [], "uuids": []},
        )
    for who, numbers in (("ben", [1]), ("vic", [1]), ("eve", [])):
        node = stage.api(who).get("/api/v1/orgs/atlas/nodes/n0").json()
        assert [job["number"] for job in node["jobs"]] == numbers
        assert node["cpus"]["held"] == 1
        [row] = stage.api(who).get("/api/v1/orgs/atlas/nodes").json()["items"]
        assert [job["number"] for job in row["jobs"]] == numbers


def test_revoked_token_and_role_apply_to_the_next_request(stage):
    api = stage.api("vis")
    assert api.get("/api/v1/orgs/atlas/jobs/1").status_code == 200
    with org_scope(stage.story.atlas.id):
        actor = stage.story.actor(stage.story.ada)
        organization_services.remove_team_member(
            actor=actor, team=stage.story.vision, email="vis@atlas.example"
        )
    assert api.get("/api/v1/orgs/atlas/jobs/1").status_code == 404
    with platform_scope("test"):
        row = AccessToken.objects.get(user=stage.people["vis"])
        tokens_services.revoke_token(actor=stage.story.actor(stage.people["vis"]), token_id=row.id)
    assert api.get("/api/v1/me").status_code == 401
