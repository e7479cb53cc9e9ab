"""The lists of this app: one declaration for page, CSV file and REST API each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy as pgettext

from portal import list_language
from portal.core.audit.reading import CONDITIONS, events_of, facts
from portal.core.errors import InvalidInput
from portal.core.event_texts import groups
from portal.core.keyset import Order
from portal.core.messages import Message
from portal.core.models import Event
from portal.lists import (
    Column,
    Filter,
    ListView,
    matching,
    one_of,
    search_in,
    times,
    worded,
)
from portal.web.translation import lazy_choices
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission as P
from workspaces.credentials.secret_selectors import secrets_for
from workspaces.identity.oidc_provider import applications
from workspaces.list_filters import OWNER, TEAM, ids_named, people_of, person_values
from workspaces.models import Organization, ServiceAccount, Team, TeamMembership, User
from workspaces.organizations import platform_selectors, selectors
from workspaces.organizations.announcements import announcements_of
from workspaces.organizations.selectors import MemberShape, ServiceAccountShape, TeamShape
from workspaces.subjects import SubjectKind, SubjectUseShape, use_columns, with_use


class ListedTeamShape(TeamShape, SubjectUseShape):
    pass


class ListedMemberShape(MemberShape, SubjectUseShape):
    pass


class ListedServiceAccountShape(ServiceAccountShape, SubjectUseShape):
    pass


def _in_teams(slugs: list[str], actor: Actor) -> Q:
    seats = TeamMembership.objects.filter(team__slug__in=slugs)
    return Q(user_id__in=seats.values("user_id"))


MEMBERS = ListView(
    name="members",
    permission=P.MEMBERS_READ,
    rows=lambda actor: selectors.people().select_related("user"),
    represent=with_use(selectors.member_rows, SubjectKind.USER, lambda row: row.user_id),
    order=Order("user__email"),
    filters=(
        search_in(
            "user__email", "user__name", placeholder=pgettext("placeholder", "Email or name")
        ),
        Filter(
            "role",
            one_of("role"),
            help="Roles separated by commas; `!` excludes one.",
            label=pgettext("filter", "Role"),
            field="role",
            is_multiple=True,
        ),
        replace(TEAM, narrow=matching(_in_teams), field=""),
        *times("created_at", pgettext("column", "Joined")),
    ),
    columns=(
        Column("email", pgettext("column", "Person"), sort=("user__email",)),
        Column("name", None),
        Column("teams", pgettext("column", "Teams")),
        *use_columns("gpus_used", "(quotas)", "gpu_hours", "cost", "trend", "last_job_at"),
        Column(
            "created_at",
            pgettext("column", "Joined"),
            "num",
            sort=("created_at", "user__email"),
            is_extra=True,
        ),
        Column("role", pgettext("column", "Role"), "num"),
    ),
    row_template="workspaces/_member_row.html",
)

TEAMS = ListView(
    name="teams",
    permission=P.TEAMS_READ,
    rows=lambda actor: Team.objects.all(),
    represent=with_use(selectors.team_rows, SubjectKind.TEAM, attrgetter("id")),
    order=Order("slug"),
    page_size=100,
    max_page_size=500,
    filters=(
        search_in("slug", "name", placeholder=pgettext("placeholder", "Name of a team")),
        *times("created_at", pgettext("column", "Created")),
    ),
    columns=(
        Column("slug", pgettext("column", "Team"), sort=("slug",)),
        Column("name", None),
        Column("role", pgettext("column", "Your role"), is_optional=True),
        Column("members", pgettext("column", "People"), "num"),
        *use_columns("gpus_used", "quotas", "gpu_hours", "cost", "trend", "last_job_at"),
        Column(
            "created_at",
            pgettext("column", "Created"),
            "num",
            sort=("created_at", "slug"),
            is_extra=True,
        ),
    ),
    row_template="workspaces/_team_row.html",
)

SERVICE_ACCOUNTS = ListView(
    name="service-accounts",
    permission=P.MEMBERS_READ,
    rows=lambda actor: ServiceAccount.objects.filter(removed_at=None).select_related("user"),
    represent=with_use(selectors.service_account_rows, SubjectKind.USER, lambda row: row.user_id),
    order=Order("name"),
    filters=(
        search_in("name", placeholder=_("Name of an account")),
        *times("created_at", pgettext("column", "Created")),
    ),
    page_size=None,
    columns=(
        Column("name", pgettext("column, of a person or service", "Account")),
        Column("role", pgettext("column", "Role")),
        Column(
            "teams",
            pgettext("column", "Teams"),
            value=lambda row: [team["slug"] for team in row["teams"]],
        ),
        Column("tokens", pgettext("column", "Tokens"), "num"),
        *use_columns("gpus_used", "(quotas)", "gpu_hours", "cost", "trend", "last_job_at"),
        Column("last_used_at", pgettext("column", "Last used"), "num"),
        Column("made_by", pgettext("column", "Created by"), is_extra=True),
    ),
    row_template="workspaces/_service_account_row.html",
)

TOKENS = ListView(
    name="tokens",
    permission=P.TOKENS_READ,
    rows=selectors.tokens_for,
    represent=lambda rows, actor: [selectors.token_row(token) for token in rows],
    order=Order("created_at", "id", is_descending=True),
    page_size=500,
    max_page_size=500,
    filters=(
        search_in("name", "hint", placeholder=_("Name of a token, or user:me")),
        Filter(
            "owner",
            matching(people_of("user")),
            help=OWNER.help,
            label=pgettext("filter", "Owner"),
            values=person_values,
            field="user__email",
            is_multiple=True,
            key="user",
        ),
        *times("created_at", pgettext("column", "Created")),
    ),
    columns=(
        Column("name", pgettext("column", "Token")),
        Column("hint", None),
        Column("owner", pgettext("column", "Owner")),
        Column("scopes", pgettext("column", "Purpose")),
        Column("networks", pgettext("column", "Networks")),
        Column("last_used_at", pgettext("column", "Last used")),
        Column("expires_at", pgettext("column", "Expires")),
        Column("actions", "", value=None),
    ),
    row_template="workspaces/_token_row.html",
)


def service_tokens(account: ServiceAccount) -> ListView:
    """Return the list of the tokens of one service account."""
    return replace(
        TOKENS,
        permission=P.MEMBERS_WRITE,
        rows=lambda actor: selectors.tokens_of(account),
        columns=tuple(column for column in TOKENS.columns if column.name != "owner"),
    )


SECRETS = ListView(
    name="secrets",
    rows=secrets_for,
    filters=(
        Filter(
            "q",
            worded("reference"),
            help="Words of the name.",
            label=pgettext("filter", "Search"),
            placeholder=_("Name of a secret"),
        ),
    ),
    represent=with_use(
        lambda rows, actor: list(rows), SubjectKind.SECRET, lambda row: row["reference"]
    ),
    columns=(
        Column("reference", pgettext("column", "Secret")),
        Column("version", pgettext("column", "Version"), "num"),
        Column("changed_at", pgettext("column", "Updated")),
        *use_columns("jobs", "job_trend"),
        Column("last_used_at", pgettext("column", "Last used"), "num"),
        Column("actions", "", value=None),
    ),
    row_template="workspaces/_secret_row.html",
)

INVITATIONS = ListView(
    name="invitations",
    permission=P.MEMBERS_WRITE,
    rows=lambda actor: selectors.open_invitations(),
    filters=(
        Filter(
            "q",
            worded("email", "name"),
            help="Words of the address or the name.",
            label=pgettext("filter", "Search"),
            placeholder=pgettext("placeholder", "Email or name"),
        ),
    ),
    columns=(
        Column("email", pgettext("column", "Person")),
        Column("name", None),
        Column("role", pgettext("column", "Role")),
        Column("teams", pgettext("column", "Teams"), value=lambda row: list(row["teams"])),
        Column("made_by", pgettext("column", "Invited by")),
        Column("expires_at", pgettext("column", "Expires")),
        Column("actions", "", value=None),
    ),
    row_template="workspaces/_invitation_row.html",
)

APPLICATIONS = ListView(
    name="applications",
    permission=P.APPLICATIONS_READ,
    rows=applications.applications,
    represent=lambda rows, actor: [applications.application_row(row) for row in rows],
    order=Order("name", "id"),
    page_size=None,
    filters=(search_in("name", placeholder=_("Name of an application")),),
    columns=(
        Column("name", pgettext("column", "Application")),
        Column("client_id", None),
        Column("addresses", pgettext("column", "Redirect URIs")),
        Column("people", pgettext("column", "People"), "num"),
        Column("created_at", pgettext("column", "Created")),
        Column("actions", "", value=None),
    ),
    row_template="workspaces/_application.html",
)

ANNOUNCEMENTS = ListView(
    name="announcements",
    permission=P.ORG_ADMIN,
    rows=lambda actor: announcements_of(actor.org_id),
    columns=(
        Column("text", pgettext("column", "Text")),
        Column("level", pgettext("column", "Type")),
        Column("is_wide", pgettext("column", "Audience")),
        Column("begins_at", pgettext("column", "Starts")),
        Column("ends_at", pgettext("column", "Ends")),
        Column("actions", "", value=None),
    ),
    row_template="workspaces/_announcement_row.html",
)

ORGANIZATIONS = ListView(
    name="organizations",
    permission=P.PLATFORM_ADMIN,
    rows=lambda actor: Organization.objects.all(),
    represent=with_use(platform_selectors.organization_rows, SubjectKind.ORG, attrgetter("id")),
    order=Order("slug"),
    filters=(
        search_in("slug", "name", placeholder=_("Name of an organization")),
        *times("created_at", pgettext("column", "Created")),
    ),
    page_size=None,
    columns=(
        Column("slug", pgettext("column", "Organization"), sort=("slug",)),
        Column("name", None),
        Column("owners", pgettext("column", "Owners"), is_optional=True),
        Column("people", pgettext("column", "People"), "num"),
        Column("teams", pgettext("column", "Teams"), "num"),
        Column("jobs", pgettext("column", "Active jobs"), "num"),
        *use_columns("gpus_used", "(quotas)", "gpu_hours", "cost", "trend", "last_job_at"),
        Column(
            "created_at",
            pgettext("column", "Created"),
            "num",
            sort=("created_at", "slug"),
            is_extra=True,
        ),
    ),
    row_template="workspaces/platform/_organization_row.html",
)

PEOPLE = ListView(
    name="people",
    permission=P.PLATFORM_ADMIN,
    rows=lambda actor: platform_selectors.people(),
    represent=platform_selectors.person_rows,
    order=Order("email"),
    filters=(
        search_in("email", "name", placeholder=pgettext("placeholder", "Email or name")),
        Filter(
            "kind",
            lambda rows, kind, actor: platform_selectors.of_kind(rows, kind),
            help="operators or suspended.",
            label=pgettext("filter", "Status"),
            values=lambda actor: (
                ("operators", pgettext("choice of a filter", "Operators")),
                ("suspended", pgettext("choice of a filter", "Suspended")),
            ),
        ),
        *times("last_login", pgettext("column", "Last sign-in")),
    ),
    columns=(
        Column("email", pgettext("column", "Person")),
        Column("name", None),
        Column(
            "orgs",
            pgettext("column", "Organizations"),
            value=lambda row: [o["org"] for o in row["orgs"]],
        ),
        Column("is_active", None),
        Column("has_second_factor", pgettext("column", "Sign-in")),
        Column("last_login", pgettext("column", "Last sign-in"), "num"),
    ),
    row_template="workspaces/platform/_person_row.html",
)


def _found(name: str) -> Callable[[QuerySet[Any], str, Any], QuerySet[Any]]:
    def narrow(rows: QuerySet[Any], text: str, actor: Any) -> QuerySet[Any]:
        return rows.filter(CONDITIONS[name](text))

    return narrow


def _acting(texts: list[str], actor: Actor) -> Q:
    """Match events of people by address or name, also of those they impersonated."""
    named = {pk for text in texts for pk in ids_named(text, actor)}
    emails = [
        *map(str.lower, texts),
        *User.objects.filter(id__in=named).values_list("email", flat=True),
    ]
    return Q(actor__in=emails) | Q(on_behalf_of__in=emails)


def _about(rows: QuerySet[Any], text: str, actor: Actor) -> QuerySet[Any]:
    """Narrow to events where every word is in the name of the subject, or in the action."""
    for word, is_negative in list_language.words(text):
        found = (
            Q(data__name__icontains=word) | Q(data__email__icontains=word) | Q(kind__icontains=word)
        )
        rows = rows.exclude(found) if is_negative else rows.filter(found)
    return rows


def _by(rows: QuerySet[Event], text: str, _actor: Actor) -> QuerySet[Event]:
    """Keep the events of people, unless all are asked for. Components have no address."""
    if text not in ("people", "all"):
        raise InvalidInput.at("by", Message("must be people or all"))
    return rows.filter(actor__contains="@").exclude(kind__in=_OF_JOBS) if text == "people" else rows


_OF_JOBS = ("run.created", "run.updated")  # what jobs do in the name of people
_AUDIT_FILTERS = (
    Filter(
        "by",
        _by,
        "`people` for what people did themselves, without what jobs and components record.",
        pgettext("filter", "By"),
        chips=(
            ("people", pgettext("chip", "People's actions")),
            ("all", pgettext("chip", "All events")),
        ),
    ),
    Filter(
        "q",
        _about,
        "Parts of the subject's name or of the action; `-word` excludes.",
        pgettext("filter", "Search"),
        _("A name, or actor:kim action:quota on:yesterday"),
        is_search=True,
    ),
    Filter(
        "actor",
        matching(_acting),
        "Names or e-mail addresses of actors, or of the users they impersonated.",
        pgettext("filter", "Person"),
        values=person_values,
        field="actor",
        is_multiple=True,
        aliases=("user",),
    ),
    Filter(
        "kind",
        _found("kind"),
        "`member.added`, or `member` for all events about members; comma-separated.",
        pgettext("filter", "Event"),
        values=lambda actor: lazy_choices(groups()),
        aliases=("action",),
    ),
    Filter(
        "subject",
        _found("subject"),
        "An id, a type (`team`), a name, or both (`team:vision`, `job:12`).",
        pgettext("filter", "About"),
        field="subject_type",
    ),
    *times("at", pgettext("column", "Time")),
    Filter(
        "address",
        _found("address"),
        "An address, or a prefix such as `10.2.`.",
        pgettext("filter, network address", "Address"),
        field="address",
    ),
    Filter("request", _found("request"), "Request ID.", pgettext("filter", "Request ID")),
)


def audit_log(chain: UUID) -> ListView:
    """Return the list of an organization's events; zero: of the installation's."""
    return replace(AUDIT, rows=lambda actor: events_of(chain))


AUDIT = ListView(
    name="audit",
    rows=lambda actor: events_of(actor.org_id),
    represent=lambda rows, actor: facts(rows),
    order=Order("position", is_descending=True),
    filters=_AUDIT_FILTERS,
    columns=(  # its file is the export, which also has the chain
        Column("at", pgettext("column", "Time"), value=None),
        Column("kind", pgettext("column", "Event"), value=None),
        Column("address", pgettext("column, network address", "Address"), "num", value=None),
    ),
    row_template="workspaces/_event_rows.html",
)
