"""How the events of people, teams, access, quotas and the audit trail read."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from portal.core.event_texts import EventKind, Subject
from portal.core.formatting import amount_text, gpu_text
from portal.core.messages import Message
from portal.core.states import Mark
from workspaces.access.permissions import texts
from workspaces.access.roles import role_facts
from workspaces.approvals.events import approval_events
from workspaces.credentials.token_presets import token_presets
from workspaces.models import Membership, Provider, Team
from workspaces.quotas.requests import KIND as QUOTA_REQUESTS

_DIRECTORY = "/{}/directories/{}"
_QUOTA = re.compile(r"(?P<resource>\S+) of (?P<scope>org|team|user)(?: (?P<name>.+))?")


def _people(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = Membership.objects.select_related("user", "org").filter(user_id__in=ids)
    return {row.user_id: (row.user.display_name, person_path(row)) for row in rows}


def person_path(row: Membership) -> str:
    """Return the page of a member."""
    return f"/{row.org.slug}/people/{row.user.email}"


def _teams(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = Team.objects.select_related("org").filter(id__in=ids)
    return {row.id: (row.name, f"/{row.org.slug}/teams/{row.slug}") for row in rows}


def _providers(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = Provider.objects.select_related("org").filter(id__in=ids)
    return {
        row.id: (row.name, _DIRECTORY.format(row.org.slug, row.short_name))
        for row in rows
        if row.org
    }


def _new_name(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"new_name": _after(data).get("name", "")}


def _roles(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the roles of a change, of directories as plain texts: "member (suspended)"."""
    return {"was": _role("org", data.get("before")), "role": _role("org", data.get("after"))}


def _team_roles(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"was": _role("team", data.get("before")), "role": _role("team", data.get("after"))}


def _role(kind: str, side: Any) -> Message | str:
    slug = side.get("role") if isinstance(side, Mapping) else side
    if not isinstance(slug, str):
        return ""
    title = role_facts(kind, slug, {}).title
    return Message(title) if title != slug else slug


def _imported(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"counts": ", ".join(f"{n} {what}" for what, n in _after(data).items())}


def _after(data: Mapping[str, Any]) -> Mapping[str, Any]:
    after = data.get("after")
    return after if isinstance(after, Mapping) else {}


def _quota(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what became of one limit; of several, the event says their names."""
    before, after = data.get("before"), _after(data)
    if len(after) != 1 or not isinstance(before, Mapping):
        return {}
    [(name, now)], was = after.items(), before.get(next(iter(after)), {})
    found = _QUOTA.fullmatch(name)
    if not found or not isinstance(now, Mapping) or not isinstance(was, Mapping):
        return {}
    resource, whose = (
        found["resource"],
        found["name"] or Message("the organization", context="part of a sentence"),
    )
    limit, former = now.get("limit"), was.get("limit")
    if limit == former:
        return {"whose": whose, "guaranteed": _amount(resource, now.get("guaranteed") or 0)}
    if limit is None:
        kind = resource.partition(".")[2]
        return {"whose": whose, "unlimited": gpu_text(kind) if kind else resource}
    what = "set" if former is None else "raised" if limit > former else "lowered"
    return {"whose": whose, what: _amount(resource, limit)}


def _amount(resource: str, amount: int) -> str:
    """Return an amount as people say it: "32 H100", "2 TiB"."""
    kind = resource.removeprefix("gpu.")
    return f"{amount:,} {gpu_text(kind)}" if kind != resource else amount_text(resource, amount)


def _denied(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what somebody may not do, in words."""
    known = {str(permission): words for permission, words in texts().items()}
    return {"act": known.get(str(data.get("permission", "")), "")}


def _token(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a token is for, or how much it may do."""
    scopes = _after(data).get("scopes") or []
    if found := next((p.title for p in token_presets() if sorted(p.scopes) == sorted(scopes)), ""):
        return {"purpose": found}
    n = len(scopes)
    return (
        {"purpose": Message.plural(n, "it may do {n} thing", "it may do {n} things", n=n)}
        if n
        else {}
    )


EVENTS = (
    EventKind(
        "org.created",
        (
            Message("{actor} created the organization {name}"),
            Message("{actor} created the organization {slug}"),
            Message("{actor} created the organization {subject}"),
        ),
    ),
    EventKind(
        "org.renamed",
        (
            Message("{actor} renamed the organization from {was_name} to {new_name}"),
            Message("{actor} renamed the organization {subject}"),
        ),
        facts=_new_name,
    ),
    EventKind(
        "org.second_factor_required",
        (Message("{actor} made a second factor required in {subject}"),),
    ),
    EventKind(
        "org.second_factor_not_required",
        (Message("{actor} made a second factor optional in {subject}"),),
    ),
    EventKind("org.guide_shown", (Message("{actor} showed the setup guide on Home"),)),
    EventKind("org.guide_put_away", (Message("{actor} hid the setup guide from Home"),)),
    EventKind("team.created", (Message("{actor} created the team {subject}"),)),
    EventKind(
        "team.renamed",
        (
            Message("{actor} renamed the team {was_name} to {new_name}"),
            Message("{actor} renamed the team {subject}"),
        ),
        facts=_new_name,
    ),
    EventKind("team.rules_changed", (Message("{actor} changed the rules of the team {subject}"),)),
    EventKind(
        "member.added",
        (
            Message("{actor} added {email} as {role}", context="event"),
            Message("{actor} added {subject} as {role}", context="event"),
            Message("{actor} added {subject}", context="event"),
        ),
        facts=_roles,
    ),
    EventKind(
        "member.changed",
        (
            Message("{actor} changed the role of {email} from {was} to {role}"),
            Message("{actor} changed the role of {subject} from {was} to {role}"),
            Message("{actor} changed the role of {subject}"),
        ),
        facts=_roles,
    ),
    EventKind(
        "member.removed",
        (
            Message("{actor} removed {email} from the organization"),
            Message("{actor} removed {subject} from the organization"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "member.suspended",
        (
            Message("{actor} suspended {email}", context="event"),
            Message("{actor} suspended {subject}", context="event"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "member.restored",
        (
            Message("{actor} restored the access of {email}"),
            Message("{actor} restored the access of {subject}"),
        ),
    ),
    EventKind(
        "team_member.added",
        (
            Message("{actor} added {email} to {subject} as {role}", context="event"),
            Message("{actor} added {email} to {subject}", context="event"),
            Message("{actor} added somebody to {subject}"),
        ),
        facts=_team_roles,
    ),
    EventKind(
        "team_member.changed",
        (
            Message("{actor} changed the role of {email} in {subject} from {was} to {role}"),
            Message("{actor} changed the role of {email} in {subject}"),
            Message("{actor} changed a role in {subject}"),
        ),
        facts=_team_roles,
    ),
    EventKind(
        "team_member.removed",
        (
            Message("{actor} removed {email} from {subject}", context="event"),
            Message("{actor} removed somebody from {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "team_member.suspended",
        (
            Message("{actor} suspended {email} in {subject}", context="event"),
            Message("{actor} suspended somebody in {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "team_member.restored",
        (
            Message("{actor} restored the access of {email} in {subject}"),
            Message("{actor} restored the access of somebody in {subject}"),
        ),
    ),
    EventKind(
        "people.imported",
        (
            Message("{actor} imported people from a file: {counts}"),
            Message("{actor} imported people from a file"),
        ),
        facts=_imported,
    ),
    EventKind(
        "invitation.made",
        (
            Message("{actor} invited {subject} as {role}", context="event"),
            Message("{actor} invited {subject}", context="event"),
        ),
        facts=_roles,
    ),
    EventKind("invitation.renewed", (Message("{actor} renewed the invitation of {subject}"),)),
    EventKind(
        "invitation.widened", (Message("{actor} added teams to the invitation of {subject}"),)
    ),
    EventKind(
        "invitation.revoked",
        (Message("{actor} revoked the invitation of {subject}"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "invitation.accepted",
        (Message("{actor} accepted the invitation of {subject}"),),
        mark=Mark.CHECK,
    ),
    EventKind("person.created", (Message("{actor} created the account of {subject}"),)),
    EventKind(
        "person.linked",
        (
            Message("{actor} linked {subject} to the directory {provider}"),
            Message("{actor} linked {subject} to a directory"),
        ),
    ),
    EventKind(
        "person.unlinked",
        (
            Message("{actor} unlinked {subject} from the directory {provider}"),
            Message("{actor} unlinked {subject} from a directory"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "person.renamed",
        (
            Message("{actor} renamed {subject} from {was_name} to {new_name}"),
            Message("{actor} renamed {subject}", context="event"),
        ),
        facts=_new_name,
    ),
    EventKind(
        "person.suspended",
        (
            Message("{actor} suspended the account of {subject}: {why}"),
            Message("{actor} suspended the account of {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "person.reinstated",
        (Message("{actor} reinstated the account of {subject}"),),
        mark=Mark.CHECK,
    ),
    EventKind(
        "person.signed_out",
        (
            Message("{actor} ended {sessions} sessions of {subject}"),
            Message("{actor} ended the sessions of {subject}"),
        ),
    ),
    EventKind(
        "person.factors_taken_off",
        (
            Message("{actor} removed the second factors of {subject}: {why}"),
            Message("{actor} removed the second factors of {subject}"),
        ),
        mark=Mark.SQUARE,
    ),
    EventKind(
        "person.switched_off",
        (Message("{actor} disabled the account of {subject}"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "person.switched_on",
        (Message("{actor} enabled the account of {subject}"),),
        mark=Mark.CHECK,
    ),
    EventKind(
        "person.left_out",
        (
            Message("{actor} left {subject} out: {why}", context="event"),
            Message("{actor} left {subject} out", context="event"),
        ),
        mark=Mark.SQUARE,
    ),
    EventKind("role.made", (Message("{actor} created the role {subject}"),)),
    EventKind("role.changed", (Message("{actor} changed the role {subject}"),)),
    EventKind("role.deleted", (Message("{actor} deleted the role {subject}"),), mark=Mark.BAR),
    EventKind(
        "token.created",
        (
            Message("{actor} created the token {subject} ({purpose})"),
            Message("{actor} created the token {subject}"),
        ),
        facts=_token,
    ),
    EventKind(
        "token.revoked",
        (
            Message("The token {subject} was revoked by {actor}: {why}"),
            Message("{actor} revoked the token {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind("token.rotated", (Message("{actor} rotated the token {subject}"),)),
    EventKind(
        "token.refused",
        (
            Message("The token {subject} was refused from {address}"),
            Message("The token {subject} was refused"),
        ),
        mark=Mark.CROSS,
    ),
    EventKind(
        "token.first_used", (Message("The token {subject} of {actor} was used for the first time"),)
    ),
    EventKind(
        "secret.set",
        (
            Message("{actor} set the secret {subject}, version {version}"),
            Message("{actor} set the secret {subject}", context="event"),
        ),
    ),
    EventKind("secret.deleted", (Message("{actor} deleted the secret {subject}"),), mark=Mark.BAR),
    EventKind(
        "secret.version_deleted",
        (
            Message("{actor} deleted version {version} of the secret {subject}"),
            Message("{actor} deleted a version of the secret {subject}"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "secret.used",
        (
            Message("{subject} used the secret {secret}, version {version}"),
            Message("{subject} used a secret", context="event"),
        ),
    ),
    EventKind(
        "service_account.created",
        (
            Message("{actor} created the service account {subject} as {role}"),
            Message("{actor} created the service account {subject}"),
        ),
        facts=_roles,
    ),
    EventKind(
        "service_account.changed", (Message("{actor} changed the service account {subject}"),)
    ),
    EventKind(
        "service_account.removed",
        (Message("{actor} removed the service account {subject}"),),
        mark=Mark.BAR,
    ),
    EventKind(
        "quota.changed",
        (
            Message("{actor} raised the quota of {whose} to {raised}"),
            Message("{actor} lowered the quota of {whose} to {lowered}"),
            Message("{actor} set the quota of {whose} to {set}"),
            Message("{actor} removed the limit of {whose} for {unlimited}"),
            Message("{actor} set the guarantee of {whose} to {guaranteed}"),
            Message("{actor} changed {changes} quotas: {name}", context="event"),
            Message("{actor} changed quotas", context="event"),
        ),
        facts=_quota,
    ),
    EventKind(
        "quota.nearly_used",
        (
            Message("{percent}% of the quota of {resource} is used"),
            Message("The quota of {subject} is nearly used"),
        ),
        mark=Mark.SQUARE,
    ),
    EventKind(
        "sign_in.succeeded",
        (
            Message("{actor} signed in by {by}", context="event"),
            Message("{actor} signed in", context="event"),
        ),
        mark=Mark.CHECK,
    ),
    EventKind("sign_in.failed", (Message("{actor} could not sign in"),), mark=Mark.CROSS),
    EventKind("sign_in.ended", (Message("{actor} signed out", context="event"),)),
    EventKind(
        "sign_in.refused",
        (
            Message("A sign-in through {provider} was refused: {why}"),
            Message("A sign-in through {subject} was refused"),
        ),
        mark=Mark.CROSS,
    ),
    EventKind(
        "sign_in.groups_unknown",
        (
            Message("{actor} signed in through {provider}, which did not say the groups: {why}"),
            Message("{actor} signed in, and the groups are unknown"),
        ),
        mark=Mark.SQUARE,
    ),
    EventKind(
        "session.ended",
        (
            Message("A session of {actor} ended on {device}: {why}"),
            Message("A session of {actor} ended"),
        ),
    ),
    EventKind("password.changed", (Message("{actor} changed the password"),)),
    EventKind("password.set", (Message("{actor} set a password", context="event"),)),
    EventKind("password.reset", (Message("{actor} reset the password"),)),
    EventKind("password.reset_asked", (Message("{actor} asked for a link to reset the password"),)),
    EventKind(
        "second_factor.added",
        (
            Message("{actor} added a second factor ({type})"),
            Message("{actor} added a second factor"),
        ),
        mark=Mark.CHECK,
    ),
    EventKind(
        "second_factor.removed",
        (
            Message("{actor} removed a second factor ({type})"),
            Message("{actor} removed a second factor"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "second_factor.reset",
        (
            Message("{actor} renewed a second factor ({type})"),
            Message("{actor} renewed a second factor"),
        ),
    ),
    EventKind(
        "impersonation.began",
        (
            Message("{actor} started to act as {subject}: {why}"),
            Message("{actor} started to act as {subject}"),
        ),
        mark=Mark.SQUARE,
    ),
    EventKind("impersonation.ended", (Message("{actor} stopped acting as {subject}"),)),
    EventKind(
        "access.denied",
        (
            Message("{actor} was denied access to {path}: they may not {act}"),
            Message("{actor} was denied access to {path}", context="event"),
            Message("{actor} was denied access", context="event"),
        ),
        facts=_denied,
        mark=Mark.CROSS,
    ),
    EventKind(
        "provider.created",
        (
            Message("{actor} connected the directory {slug}"),
            Message("{actor} connected the directory {subject}"),
        ),
    ),
    EventKind(
        "provider.changed",
        (
            Message("{actor} changed {options} of the directory {subject}"),
            Message("{actor} changed the directory {subject}"),
        ),
    ),
    EventKind(
        "provider.removed", (Message("{actor} removed the directory {subject}"),), mark=Mark.BAR
    ),
    EventKind(
        "provider.enabled", (Message("{actor} enabled the directory {subject}"),), mark=Mark.CHECK
    ),
    EventKind(
        "provider.disabled", (Message("{actor} disabled the directory {subject}"),), mark=Mark.BAR
    ),
    EventKind(
        "provider.rules_changed",
        (Message("{actor} changed the group rules of the directory {subject}"),),
    ),
    EventKind(
        "provider.test_asked", (Message("{actor} asked for a connection test of {subject}"),)
    ),
    EventKind(
        "provider.tested",
        (
            Message("The connection test of {subject} that {actor} asked for: {message}"),
            Message("The connection test of {subject} that {actor} asked for has ended"),
        ),
    ),
    EventKind(
        "provider.sync_asked", (Message("{actor} asked for a sync of the directory {subject}"),)
    ),
    EventKind(
        "provider.sync_stopped",
        (
            Message("The sync of the directory {subject} stopped: {message}"),
            Message("The sync of the directory {subject} stopped"),
        ),
        mark=Mark.CROSS,
    ),
    EventKind(
        "provider.links_accepted",
        (
            Message("{actor} accepted {links} links of the directory {subject}"),
            Message("{actor} accepted links of the directory {subject}"),
        ),
    ),
    EventKind(
        "scim_token.created",
        (
            Message("{actor} created a SCIM token for {provider}"),
            Message("{actor} created a SCIM token"),
        ),
    ),
    EventKind(
        "scim_token.ended",
        (
            Message("{actor} revoked the SCIM token of {provider}"),
            Message("{actor} revoked a SCIM token"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "application.created",
        (
            Message("{actor} registered the application {client_id}"),
            Message("{actor} registered an application"),
        ),
    ),
    EventKind(
        "application.changed",
        (
            Message("{actor} changed the application {client_id}"),
            Message("{actor} changed an application"),
        ),
    ),
    EventKind(
        "application.removed",
        (
            Message("{actor} removed the application {client_id}"),
            Message("{actor} removed an application"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "application.secret_renewed",
        (
            Message("{actor} renewed the secret of the application {client_id}"),
            Message("{actor} renewed the secret of an application"),
        ),
    ),
    EventKind(
        "application.agreement_taken_back",
        (
            Message("{actor} withdrew the consent to the application {client_id}"),
            Message("{actor} withdrew the consent to an application"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "application.token_replayed",
        (
            Message("A token of the application {client_id} was used twice; all its tokens ended"),
            Message("A token of an application was used twice; all its tokens ended"),
        ),
        mark=Mark.CROSS,
    ),
    EventKind("announcement.made", (Message("{actor} announced: {subject}", context="event"),)),
    EventKind(
        "announcement.withdrawn",
        (Message("{actor} withdrew the announcement: {subject}"),),
        mark=Mark.BAR,
    ),
    EventKind("audit.exported", (Message("{actor} exported the audit log"),)),
    EventKind(
        "audit.verification_asked", (Message("{actor} started a verification of the audit log"),)
    ),
    EventKind(
        "audit.retention_changed",
        (
            Message("{actor} set the retention of the audit log to {keep_days} days"),
            Message("{actor} changed the retention of the audit log"),
        ),
    ),
    EventKind(
        "audit.trimmed",
        (
            Message("{events} events older than {keep_days} days were deleted"),
            Message("Old events were deleted"),
        ),
    ),
    EventKind(
        "audit.forward_added",
        (
            Message("{actor} forwards the audit log to {target}"),
            Message("{actor} forwards the audit log"),
        ),
    ),
    EventKind(
        "audit.forward_removed",
        (
            Message("{actor} no longer forwards the audit log to {target}"),
            Message("{actor} no longer forwards the audit log"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "audit.forward_retried",
        (
            Message("{actor} retried the forward of the audit log to {target}"),
            Message("{actor} retried a forward of the audit log"),
        ),
    ),
    *approval_events(QUOTA_REQUESTS),
)
GROUPS = {
    "org": Message("Organization", context="way to group"),
    "team": Message("Teams", context="way to group"),
    "member": Message("Members", context="way to group"),
    "team_member": Message("Members of teams"),
    "people": Message("Imports of people"),
    "invitation": Message("Invitations", context="way to group"),
    "person": Message("Accounts", context="way to group"),
    "role": Message("Roles", context="way to group"),
    "token": Message("Tokens", context="way to group"),
    "secret": Message("Secrets", context="way to group"),
    "service_account": Message("Service accounts", context="way to group"),
    "quota": Message("Quotas", context="way to group"),
    "sign_in": Message("Sign-ins", context="way to group"),
    "session": Message("Signed-in devices", context="way to group"),
    "password": Message("Passwords", context="way to group"),
    "second_factor": Message("Second factors", context="way to group"),
    "impersonation": Message("Acting as somebody"),
    "access": Message("Refusals", context="way to group"),
    "provider": Message("Directories", context="way to group"),
    "scim_token": Message("SCIM tokens", context="way to group"),
    "application": Message("Applications", context="way to group"),
    "announcement": Message("Announcements", context="way to group"),
    "audit": Message("Audit log", context="way to group"),
}
SUBJECTS = (
    Subject("user", Message("somebody", context="subject of an event"), _people),
    Subject("team", Message("a team", context="subject of an event"), _teams),
    Subject("org", Message("the organization", context="subject of an event")),
    Subject("quota", Message("the organization", context="subject of an event")),
    Subject("quota_request", Message("a higher quota", context="subject of an event")),
    Subject("token", Message("a token", context="subject of an event")),
    Subject("secret", Message("a secret", context="subject of an event")),
    Subject("role", Message("a role", context="subject of an event")),
    Subject("invitation", Message("an invitation", context="subject of an event")),
    Subject("service_account", Message("a service account")),
    Subject("provider", Message("a directory", context="subject of an event"), _providers),
    Subject("application", Message("an application", context="subject of an event")),
    Subject("announcement", Message("an announcement", context="subject of an event")),
    Subject("audit", Message("the audit log", context="subject of an event")),
)
