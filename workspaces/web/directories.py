"""Pages: identity providers of an organization, and of the installation for operators."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.core.errors import NotFound, PortalError
from portal.core.messages import Message
from portal.web.denials import record_denied_request
from portal.web.options import (
    checks_of,
    faults_of,
    fields,
    store_form,
    submitted_values,
    wizard_steps,
)
from workspaces.access.permissions import ORG_TITLES, TEAM_TITLES
from workspaces.access.permissions import Permission as P
from workspaces.identity import provider_services as service
from workspaces.identity.directory_sync import last_runs, link_people, start_sync
from workspaces.identity.provider_types import ProviderType, kind_of, kinds
from workspaces.identity.reinstatement import suspended_addresses
from workspaces.models import DirectoryRun, GroupRule, Organization, Provider, Team
from workspaces.organizations.leavers import leavers_of
from workspaces.tenancy.scope import platform_scope
from workspaces.web.base import action, page

READ_WRITE, POST = ("GET", "HEAD", "POST"), ("POST",)
_COUNTED = {  # `directory_sync.counts_of` in words
    "new": Message("accounts created", context="number of things"),
    "linked": Message("accounts linked", context="number of things"),
    "given": Message("roles granted", context="number of things"),
    "taken": Message("roles removed", context="number of things"),
    "changed": Message("roles changed", context="number of things"),
    "vanished": Message("left the directory"),
    "switched off": Message("accounts deactivated", context="number of things"),
    "switched on": Message("accounts activated", context="number of things"),
    "left out": Message("conflicts", context="number of things"),
    "spared": Message("exempt", context="number of things"),
}


@page(P.PROVIDERS_READ)
def directories(request: Any) -> HttpResponse:
    """List providers."""
    return render(
        request,
        "workspaces/directories/list.html",
        {
            "page_title": Message("Sign-in", context="page title"),
            "may_write": request.actor.may(P.PROVIDERS_WRITE),
            "rows": [_row(row) for row in service.providers_for(request.actor)],
        },
    )


@page(P.PROVIDERS_WRITE, READ_WRITE)
def connect_directory(request: Any) -> HttpResponse:
    """Connect a provider in steps: its type, how to reach it, people and groups, a test, roles."""
    kind = kinds().get(request.POST.get("kind") or request.GET.get("kind", ""))
    is_wide = bool(request.POST.get("wide")) and request.actor.is_operator
    shown: dict[str, Any] = {
        "page_title": Message("Connect a directory"),
        "crumbs": [(Message("Sign-in", context="navigation"), f"/{request.org.slug}/directories")],
        "kinds": kinds().values(),
        "kind": kind,
        "is_wide": is_wide,
        "person": request.POST.get("person", ""),
        "named": {name: request.POST.get(name, "") for name in ("slug", "title", "domains")},
    }
    if kind:
        org = None if is_wide else request.org
        options = submitted_values(request, kind.options, ways=kind.ways)
        way, rules = request.POST.get("way", ""), _rules(request)
        made, answer = store_form(
            request,
            lambda: service.create_provider(
                actor=request.actor,
                org=org,
                kind=kind.name,
                slug=request.POST.get("slug", "").strip(),
                name=request.POST.get("title", "").strip(),
                options=options,
                domains=request.POST.get("domains", "").split(),
                rules=rules,
                way=way,
            ),
        )
        if made:
            done = (
                Message("{name} is connected. Next, preview what would change.", name=made.name)
                if rules
                else Message(
                    "{name} is connected. Next, map its groups to roles, then preview what would "
                    "change.",
                    name=made.name,
                )
            )
            messages.success(request, done)
            return redirect(f"/{request.org.slug}/directories/{made.short_name}")
        answer |= _tested(
            request,
            kind,
            answer,
            kind=kind.name,
            org=org,
            options=options,
            way=way,
            slug=request.POST.get("slug", "").strip(),
        )
        shown |= answer | fields(request, kind.options, answer["faults"], ways=kind.ways)
        shown |= {
            "missing": kind.missing(),
            "wizard": wizard_steps(
                shown["steps"], ("roles", Message("Roles", context="text, workspaces"))
            ),
            "rules": [
                rule | {"place": "/".join(filter(None, (rule["org"], rule["team"])))}
                for rule in rules
            ],
            "places": _places(None if is_wide else request.org),
            "roles": list((ORG_TITLES | TEAM_TITLES | ORG_TITLES).items()),
        }
    return render(request, "workspaces/directories/connect.html", shown)


@page(P.PROVIDERS_WRITE)
def directory_test(request: Any, test: UUID) -> HttpResponse:
    """Show the checklist of a test that was started by a form, which waits for it here."""
    row = service.find_test(request.actor, test)
    found = service.provider_test_data(row)
    outcome = "running" if not found["ended_at"] else "ok" if found["is_ok"] else "failed"
    return render(
        request,
        "components/_checks.html",
        {
            "tested": outcome,
            "checks": found["checks"],
            "message": found["message"],
            "names": found["facts"].get("group_names", ()),
        },
    )


def _tested(
    request: Any, what: ProviderType, answer: dict[str, Any], **given: Any
) -> dict[str, Any]:
    """Start the test of a form, and return how it stands: what is refused, or where its result appears.

    A step of the wizard only asks whether its settings are right.
    """
    faults, error = answer["faults"], answer["error"]
    if request.POST.get("do") == "check":
        try:
            service.check_form(actor=request.actor, **given)
        except PortalError as refused:
            error, faults = faults_of(refused)
    elif request.POST.get("do") == "test":
        try:
            started = service.start_test(
                actor=request.actor, person=request.POST.get("person", ""), **given
            )
        except PortalError as refused:
            record_denied_request(request, refused)
            error, faults = faults_of(refused)
        else:
            return {
                "tested": "running",
                "poll": f"/{request.org.slug}/directories/-/tests/{started.id}",
            }
    outcome = "refused" if faults else "failed" if error else ""
    return {
        "tested": outcome,
        "error": error,
        "faults": faults,
        "checks": checks_of(what.options, faults),
    }


@page(P.PROVIDERS_READ)
def directory(request: Any, slug: str) -> HttpResponse:
    """Show a provider: state, rules, the last run, and running jobs of users who left."""
    row = service.find_provider(request.actor, slug)
    what = kind_of(row.kind)
    runs = last_runs(row) if what.listing else []
    whole = next((run for run in runs if run.outcome not in ("queued", "running", "failed")), None)
    under_way = next((run for run in runs if run.outcome in ("queued", "running")), None)
    return render(
        request,
        "workspaces/directories/detail.html",
        {
            "page_title": row.name,
            "crumbs": [
                (Message("Sign-in", context="navigation"), f"/{request.org.slug}/directories")
            ],
            "row": _row(row),
            "kind": what,
            "rules": [
                rule | {"place": "/".join(filter(None, (rule["org"], rule["team"])))}
                for rule in service.group_rules(row)
            ],
            "places": _places(row.org),
            "roles": list((ORG_TITLES | TEAM_TITLES | ORG_TITLES).items()),
            "runs": runs,
            "run": whole,
            "counts": [(n, _COUNTED.get(name, name)) for name, n in whole.counts.items()]
            if whole
            else [],
            "under_way": under_way,
            "may_write": request.actor.may(P.PROVIDERS_WRITE),
            "leavers": leavers_of(row),
            "shut_out": suspended_addresses(row) if request.actor.may(P.PROVIDERS_WRITE) else [],
            "more": max(
                0,
                sum(whole.counts.get(name, 0) for name in ("given", "taken", "changed", "left out"))
                - len(whole.lines),
            )
            if whole
            else 0,
            "has_begun": any(run.outcome in ("done", "unchanged") for run in runs),
        },
    )


@page(P.PROVIDERS_WRITE, READ_WRITE)
def edit_directory(request: Any, slug: str) -> HttpResponse:
    """Change options; empty secrets are kept, those ticked for removal are deleted."""
    row = service.find_provider(request.actor, slug)
    what, here = kind_of(row.kind), f"/{request.org.slug}/directories/{row.short_name}"
    options = submitted_values(request, what.options, row.config, what.ways)
    way = request.POST.get("way", "")
    made, answer = store_form(
        request,
        lambda: service.update_provider(
            actor=request.actor,
            provider=row,
            options=options,
            name=request.POST.get("title"),
            domains=request.POST.get("domains", "").split(),
            way=way,
        ),
    )
    if made:
        messages.success(request, Message("{name} was updated.", name=made.name))
        return redirect(here)
    answer |= _tested(
        request, what, answer, kind=row.kind, org=row.org, options=options, provider=row, way=way
    )
    named = {
        "title": request.POST.get("title", row.name),
        "domains": request.POST.get("domains", " ".join(row.domains)),
    }
    return render(
        request,
        "workspaces/directories/edit.html",
        answer
        | fields(
            request,
            what.options,
            answer["faults"],
            row.config,
            service.stored_secret_names(row),
            what.ways,
        )
        | {
            "page_title": Message("Edit", context="page title"),
            "crumbs": [
                (Message("Sign-in", context="navigation"), f"/{request.org.slug}/directories"),
                (row.name, here),
            ],
            "row": _row(row),
            "kind": what,
            "back": here,
            "named": named,
            "missing": what.missing(),
        },
    )


@page(P.PROVIDERS_WRITE, POST)
def change_rules(request: Any, slug: str) -> HttpResponse:
    """Replace all rules in the order of the page; rows without a group are removed."""
    row = service.find_provider(request.actor, slug)
    rules = _rules(request)
    return action(
        request,
        f"/{request.org.slug}/directories/{row.short_name}",
        Message("Rules saved. They apply at the next sign-in and sync."),
        lambda: service.set_rules(actor=request.actor, provider=row, rules=rules),
    )


@page(P.PROVIDERS_WRITE, POST)
def act_on_directory(request: Any, slug: str) -> HttpResponse:
    """Test, sync, accept, link, enable, disable or delete a provider."""
    row, do = service.find_provider(request.actor, slug), request.POST.get("do", "")
    back = f"/{request.org.slug}/directories/{row.short_name}"
    if do in {"look", "run", "accept"}:
        return action(
            request,
            back,
            _("Started. The results appear on this page."),
            lambda: _run(request, row, do),
        )
    if do == "link":
        return action(
            request,
            back,
            _("Started. The results appear on this page."),
            lambda: link_people(
                actor=request.actor, provider=row, subjects=request.POST.getlist("subject")
            ),
        )
    if do in {"enable", "disable"}:
        return action(
            request,
            back,
            Message("{name} is enabled.", name=row.name)
            if do == "enable"
            else Message("{name} is disabled.", name=row.name),
            lambda: service.update_provider(
                actor=request.actor, provider=row, is_enabled=do == "enable"
            ),
        )
    if do == "remove":
        return action(
            request,
            f"/{request.org.slug}/directories",
            Message(
                "{name} was removed. Its people keep their roles, as if assigned manually.",
                name=row.name,
            ),
            lambda: service.remove_provider(
                actor=request.actor, provider=row, brings_back=request.POST.get("bring_back") == "1"
            ),
        )
    return redirect(back)


def _rules(request: Any) -> list[dict[str, str]]:
    """Return the submitted rules in their order, without those that have no group."""
    lines = zip(
        request.POST.getlist("group"),
        request.POST.getlist("place"),
        request.POST.getlist("role"),
        strict=False,
    )
    rules = []
    for group, place, role in lines:
        org, _, team = place.partition("/")
        if group.strip():
            rules.append({"group": group, "org": org, "team": team, "role": role})
    return rules


def _run(request: Any, row: Provider, do: str) -> None:
    start_sync(
        actor=request.actor,
        provider=row,
        is_dry=do == "look",
        accepted=_stopped(request, row) if do == "accept" else None,
    )


def _stopped(request: Any, row: Provider) -> DirectoryRun:
    """Return the run that was shown when it was accepted. Raises NotFound."""
    try:
        return DirectoryRun.objects.get(
            provider=row, id=UUID(request.POST.get("run", "")), outcome=DirectoryRun.Outcome.STOPPED
        )
    except (ValueError, DirectoryRun.DoesNotExist):
        raise NotFound(
            _("That sync can no longer be accepted. Do a dry run to see what would change now.")
        ) from None


def _row(row: Provider) -> dict[str, Any]:
    """Return a provider as shown in lists."""
    with platform_scope("rules of the installation's directories name several organizations"):
        rules = GroupRule.objects.filter(provider=row).count()
    return {
        "slug": row.short_name,
        "name": row.name,
        "title": kind_of(row.kind).title,
        "org": row.org.slug if row.org else "",
        "domains": row.domains,
        "is_enabled": row.is_enabled,
        "seen_at": row.seen_at,
        "trouble": row.trouble,
        "trouble_since": row.trouble_since,
        "people": row.identities.filter(gone_since=None).count(),
        "rules": rules,
        "signs_in": row.kind == Provider.Kind.LDAP,
        "is_sso": row.kind in (Provider.Kind.OIDC, Provider.Kind.SAML),
        "is_told": row.kind != Provider.Kind.LDAP,
        "has_sync": kind_of(row.kind).listing is not None,
        "state": "disabled"
        if not row.is_enabled
        else "not responding"
        if row.trouble
        else "connected"
        if row.seen_at
        else "connecting",
    }


def _places(org: Organization | None) -> list[str]:
    """Return where rules may give roles: organizations, and teams as org/team. None: everywhere."""
    with platform_scope("rules of the installation's directories name teams of every organization"):
        orgs = Organization.objects.filter(id=org.id) if org else Organization.objects.all()
        teams = Team.objects.filter(org__in=orgs).values_list("org__slug", "slug")
        return sorted(
            [*orgs.values_list("slug", flat=True), *(f"{org}/{team}" for org, team in teams)]
        )
