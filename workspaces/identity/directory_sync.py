"""Run directory syncs: scheduled, manual or as a dry run, one at a time for each directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from itertools import islice
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Coalesce

from portal.core import clock, leases
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.events import EventRecord, record
from portal.core.lease_holder import new_holder
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.identity.provider_services import TASK, config_of
from workspaces.identity.provider_types import DirectoryListing, ProviderUnavailable, kind_of, kinds
from workspaces.identity.provisioning import ProvisioningPlan, RoleChange
from workspaces.identity.provisioning_services import SyncResult, sync_people
from workspaces.models import DirectoryRun, Organization, Provider, Team, User
from workspaces.tenancy.scope import platform_scope

LEASE, KEPT, MOST_LINES = 900.0, 50, 500
_DIED = Message("The sync was interrupted. The next run continues where it stopped.")
_ANSWERED = "status of a directory, possibly of the installation"
Outcome = DirectoryRun.Outcome


def start_sync(
    *,
    actor: Actor | None,
    provider: Provider,
    is_dry: bool = False,
    accepted: DirectoryRun | None = None,
    links: Mapping[str, UUID] | None = None,
) -> DirectoryRun:
    """Queue a sync for a background thread, which starts it at once.

    `actor` is None for a scheduled run. `accepted` is a stopped run whose removals are now
    confirmed. Raises NotPermitted, InvalidInput; Conflict while another run of the provider is
    queued or running.
    """
    _check_may_start(actor, provider)
    run = _create_run(actor, provider, is_dry, accepted, links)
    wake_worker(TASK)
    return run


def sync_provider(
    *,
    actor: Actor | None,
    provider: Provider,
    is_dry: bool = False,
    accepted: DirectoryRun | None = None,
) -> DirectoryRun:
    """Sync a directory before returning; for commands, never in a request. See `start_sync`."""
    _check_may_start(actor, provider)
    holder = new_holder()
    if not leases.take(_lease(provider), holder, LEASE):
        raise _conflict(provider)
    return _run(_create_run(actor, provider, is_dry, accepted, None, Outcome.RUNNING), holder)


def run_next(may_begin: Callable[[UUID | None], bool]) -> bool:
    """Run the oldest queued sync that `may_begin` admits; return False if there is none.

    `may_begin` takes the organization's id, or None for the installation.
    """
    with platform_scope("one task syncs the directories of all organizations"):
        queued = list(
            DirectoryRun.objects.filter(outcome=Outcome.QUEUED)
            .select_related("provider__org")
            .order_by("started_at")
        )
    for run in queued:
        holder, lease = new_holder(), _lease(run.provider)
        if not may_begin(run.provider.org_id) or not leases.take(lease, holder, LEASE):
            continue
        if DirectoryRun.objects.filter(id=run.id, outcome=Outcome.QUEUED).update(
            outcome=Outcome.RUNNING, started_at=clock.now()
        ):
            run.outcome = Outcome.RUNNING
            with platform_scope("a directory grants roles in several organizations"):
                _run(run, holder)
            return True
        leases.release(lease, holder)
    return False


def end_abandoned() -> None:
    """Mark runs as failed when their process died, that is, when nobody holds their lease."""
    for run in DirectoryRun.objects.filter(outcome=Outcome.RUNNING).select_related("provider"):
        _end_abandoned(run.provider)


def due_providers() -> list[Provider]:
    """Return the providers whose scheduled sync is due.

    The first sync of each is manual, so that somebody has reviewed its changes.
    """
    rows = Provider.objects.filter(
        is_enabled=True, kind__in=[name for name, kind in kinds().items() if kind.listing]
    )
    return [row for row in rows if _is_due(row)]


def last_runs(provider: Provider, count: int = 10) -> list[DirectoryRun]:
    """Return the latest runs, newest first; a run whose process died is shown as failed."""
    return [
        _marked_if_lost(row)
        for row in DirectoryRun.objects.filter(provider=provider).order_by("-started_at")[:count]
    ]


def find_run(provider: Provider, run_id: UUID) -> DirectoryRun:
    """Return a run of this provider. Raises NotFound."""
    row = DirectoryRun.objects.filter(provider=provider, id=run_id).first()
    if row is None:
        raise NotFound(Message("This sync doesn't exist or has been deleted."))
    return _marked_if_lost(row)


def _marked_if_lost(row: DirectoryRun) -> DirectoryRun:
    if row.outcome == Outcome.RUNNING and row.started_at < clock.now() - timedelta(seconds=LEASE):
        row.outcome, row.message, row.ended_at = (
            Outcome.FAILED,
            _DIED,
            row.started_at + timedelta(seconds=LEASE),
        )
    return row


def link_people(*, actor: Actor, provider: Provider, subjects: list[str]) -> DirectoryRun:
    """Queue a sync that links existing accounts to these people, as the last run proposed.

    Only for operators, and only for a directory of the whole installation. Raises NotPermitted,
    InvalidInput, Conflict.
    """
    if provider.org_id is not None or not actor.is_operator:
        raise NotPermitted(
            Message(
                "Only an operator can link accounts to a directory, and only to one of the whole "
                "installation."
            )
        )
    last = (
        DirectoryRun.objects.filter(provider=provider)
        .exclude(clashes={})
        .order_by("-started_at")
        .first()
    )
    links = {s: UUID(last.clashes[s]) for s in subjects if last and s in last.clashes}
    if not links:
        raise InvalidInput.at("subjects", "the last sync proposed none of these")
    run = start_sync(actor=actor, provider=provider, links=links)
    record(
        EventRecord(
            "provider.links_accepted",
            None,
            "provider",
            provider.id,
            actor.email,
            {"slug": provider.slug, "links": len(links)},
        )
    )
    return run


def _check_may_start(actor: Actor | None, provider: Provider) -> None:
    if actor is not None:
        _may_sync(actor, provider)
    if kind_of(provider.kind).listing is None:
        raise InvalidInput.at("kind", f"{provider.name} can't list its people")


def _create_run(
    actor: Actor | None,
    provider: Provider,
    is_dry: bool,
    accepted: DirectoryRun | None,
    links: Mapping[str, UUID] | None,
    outcome: str = Outcome.QUEUED,
) -> DirectoryRun:
    """Create the row of a new run; a database constraint allows one unfinished run per provider."""
    _end_abandoned(provider, is_ours=outcome == Outcome.RUNNING)
    try:
        with transaction.atomic():
            run = DirectoryRun.objects.create(
                provider=provider,
                actor=actor.email if actor else "",
                outcome=outcome,
                is_dry=is_dry,
                accepted=accepted.losses if accepted else [],
                links={subject: str(user) for subject, user in (links or {}).items()},
            )
            if actor is not None:
                record(
                    EventRecord(
                        "provider.sync_asked",
                        provider.org_id,
                        "provider",
                        provider.id,
                        actor.email,
                        {"slug": provider.slug, "is_dry": is_dry},
                    )
                )
    except IntegrityError:
        raise _conflict(provider) from None
    return run


def _end_abandoned(provider: Provider, *, is_ours: bool = False) -> None:
    """Mark a run without a lease as failed; `is_ours` says that the caller holds the lease."""
    holder = new_holder()
    if is_ours or leases.take(_lease(provider), holder, LEASE):
        DirectoryRun.objects.filter(provider=provider, outcome=Outcome.RUNNING).update(
            outcome=Outcome.FAILED, ended_at=clock.now(), message=_DIED
        )
        leases.release(_lease(provider), holder)


def _lease(provider: Provider) -> str:
    return f"directory:{provider.id}"


def _conflict(provider: Provider) -> Conflict:
    return Conflict(
        Message("{name} is already syncing. Wait until it finishes.", name=provider.name),
        code="running",
    )


def _may_sync(actor: Actor, provider: Provider) -> None:
    if provider.org_id is None and not actor.is_operator:
        raise NotPermitted(
            Message("Only a platform operator can sync a directory of the whole installation.")
        )
    authorize(actor, Permission.PROVIDERS_WRITE)


def _run(run: DirectoryRun, holder: str) -> DirectoryRun:
    try:
        return _finish(run, *_execute(run))
    finally:
        leases.release(_lease(run.provider), holder)


def _execute(run: DirectoryRun) -> tuple[DirectoryListing | None, SyncResult | str]:
    provider, listing = run.provider, kind_of(run.provider.kind).listing
    assert listing is not None
    try:
        found = listing(config_of(provider), lambda count: _note_progress(run, count))
        synced = sync_people(
            provider,
            found.people,
            actor=run.actor,
            accepted=frozenset(map(UUID, run.accepted)),
            links={subject: UUID(user) for subject, user in run.links.items()},
            is_dry=run.is_dry,
        )
    except ProviderUnavailable as error:
        now = clock.now()
        with platform_scope(_ANSWERED):
            Provider.objects.filter(id=provider.id).update(
                trouble=error.message[:500], trouble_since=Coalesce(F("trouble_since"), now)
            )
        return None, error.message
    except Exception as error:
        DirectoryRun.objects.filter(id=run.id).update(
            outcome=Outcome.FAILED, ended_at=clock.now(), message=type(error).__name__
        )
        raise
    with platform_scope(_ANSWERED):
        Provider.objects.filter(id=provider.id).update(
            trouble="", trouble_since=None, seen_at=clock.now()
        )
    return found, synced


def _note_progress(run: DirectoryRun, count: int) -> None:
    run.people_read = count
    DirectoryRun.objects.filter(id=run.id).update(people_read=count)


def _finish(
    run: DirectoryRun, found: DirectoryListing | None, result: SyncResult | str
) -> DirectoryRun:
    run.ended_at = clock.now()
    if isinstance(result, str):
        run.outcome, run.message = Outcome.FAILED, result[:500]
    else:
        run.outcome, run.message = _outcome(run, result), result.objection
        run.people_read = len(found.people) if found else 0
        run.counts = {
            "people": run.people_read,
            "groups": found.groups if found else 0,
            **counts_of(result.plan),
        }
        run.lines = list(islice(lines_of(result.plan), MOST_LINES))
        run.losses = sorted(map(str, result.plan.losses))
        run.clashes = _linkable(result.plan)
    run.save(
        update_fields=[
            "ended_at",
            "outcome",
            "message",
            "people_read",
            "counts",
            "lines",
            "losses",
            "clashes",
        ]
    )
    if run.outcome == Outcome.STOPPED:
        record(
            EventRecord(
                "provider.sync_stopped",
                run.provider.org_id,
                "provider",
                run.provider_id,
                run.actor or "muster",
                {"slug": run.provider.slug, "message": run.message},
            )
        )
    _delete_old_runs(run)
    return run


def _outcome(run: DirectoryRun, result: SyncResult) -> str:
    if result.objection:
        return Outcome.STOPPED
    if not result.is_done:
        return Outcome.DRY
    return Outcome.UNCHANGED if result.plan.is_empty else Outcome.DONE


def counts_of(made: ProvisioningPlan) -> dict[str, int]:
    """Count the changes of a plan by kind, without zeros."""
    found = {
        "new": sum(not n.is_linked for n in made.newcomers),
        "linked": sum(n.is_linked for n in made.newcomers),
        "given": sum(c.before is None for c in made.changes),
        "taken": sum(c.is_loss for c in made.changes),
        "changed": sum(c.before is not None and not c.is_loss for c in made.changes),
        "vanished": sum(a.is_gone for _, a in made.identities),
        "switched off": len(made.off),
        "switched on": len(made.on),
        "left out": len(made.clashes),
        "spared": len(made.spared),
    }
    return {name: count for name, count in found.items() if count}


def lines_of(made: ProvisioningPlan) -> Iterator[dict[str, str]]:
    """Describe the changes of a plan, removals first."""
    names = _Names(made)
    for known in made.off:
        yield {
            "kind": "taken",
            "who": known.email,
            "what": "removed from the directory: account deactivated",
        }
    for user_id, why in made.spared:
        yield {"kind": "spared", "who": names.who(user_id), "what": f"keeps their access: {why}"}
    for clash in made.clashes:
        yield {
            "kind": "clash",
            "who": clash.person.email or clash.person.login,
            "what": clash.why,
            "subject": clash.person.subject,
        }
    for change in sorted(made.changes, key=lambda c: not c.is_loss):
        yield {
            "kind": "taken" if change.is_loss else "changed" if change.before else "given",
            "who": names.who(change.seat.user_id),
            "what": names.what(change),
        }
    for known in made.on:
        yield {
            "kind": "given",
            "who": known.email,
            "what": "listed in the directory again: account activated",
        }


class _Names:
    """Display names of the people, organizations and teams in a plan."""

    def __init__(self, made: ProvisioningPlan):
        users = {c.seat.user_id for c in made.changes} | {user_id for user_id, _ in made.spared}
        self._people = {n.user_id: n.person.email for n in made.newcomers} | {
            k.user_id: k.email for k, _ in made.identities
        }
        missing = sorted(users - self._people.keys())
        for start in range(0, len(missing), 500):
            self._people |= dict(
                User.objects.filter(id__in=missing[start : start + 500]).values_list("id", "email")
            )
        self._orgs: Mapping[UUID, str] = (
            dict(Organization.objects.values_list("id", "slug")) if made.changes else {}
        )
        with platform_scope("a plan names teams of several organizations"):
            self._teams: Mapping[UUID, str] = (
                dict(Team.objects.values_list("id", "slug")) if made.changes else {}
            )

    def who(self, user_id: UUID) -> str:
        return self._people.get(user_id, str(user_id))

    def what(self, change: RoleChange) -> str:
        seat = change.seat
        place = self._orgs.get(seat.org_id, "?") + (
            f"/{self._teams.get(seat.team_id, '?')}" if seat.team_id else ""
        )
        if change.before is None:
            return f"{seat.role} of {place}, by {seat.via}"
        if change.after is None:
            return f"no longer {seat.role} of {place}"
        if change.is_loss:
            return f"suspended in {place}"
        was = f"{change.before.role} → " if change.before.role != seat.role else ""
        return f"{was}{seat.role} of {place}, by {seat.via}"


def _linkable(made: ProvisioningPlan) -> dict[str, str]:
    """Return the account with the same address for each person who was skipped, by subject."""
    wanted = {
        clash.person.email: clash.person.subject for clash in made.clashes if clash.person.email
    }
    emails = sorted(wanted)[:MOST_LINES]
    return (
        {
            wanted[email]: str(user_id)
            for email, user_id in User.objects.filter(email__in=emails).values_list("email", "id")
        }
        if emails
        else {}
    )


def _is_due(provider: Provider) -> bool:
    minutes = int(
        provider.config.get(
            "sync_minutes", getattr(kind_of(provider.kind).config, "sync_minutes", 0)
        )
    )
    last = (
        DirectoryRun.objects.filter(provider=provider)
        .exclude(outcome=Outcome.DRY)
        .order_by("-started_at")
        .first()
    )
    if not minutes or last is None or not _has_been_done(provider):
        return False
    return last.started_at <= clock.now() - timedelta(minutes=minutes)


def _has_been_done(provider: Provider) -> bool:
    return (
        DirectoryRun.objects.filter(
            provider=provider, outcome__in=[Outcome.DONE, Outcome.UNCHANGED]
        )
        .exclude(actor="")
        .exists()
    )


def _delete_old_runs(run: DirectoryRun) -> None:
    """Delete old runs: consecutive scheduled runs without changes, and all but the latest 50.

    The first completed manual run stays, because it enables scheduled runs.
    """
    rows = DirectoryRun.objects.filter(provider=run.provider_id).order_by("-started_at")
    if run.outcome == Outcome.UNCHANGED and not run.actor:
        before = rows.exclude(id=run.id).first()
        if before and before.outcome == Outcome.UNCHANGED and not before.actor:
            before.delete()
    old = list(rows.values_list("id", flat=True)[KEPT:])
    begun = (
        rows.filter(outcome__in=[Outcome.DONE, Outcome.UNCHANGED])
        .exclude(actor="")
        .values_list("id", flat=True)
        .first()
    )
    if old:
        DirectoryRun.objects.filter(id__in=[run_id for run_id in old if run_id != begun]).delete()
