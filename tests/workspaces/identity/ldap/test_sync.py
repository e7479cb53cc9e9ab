"""Syncs of a real slapd: manual, scheduled and by command."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from portal.core import clock, leases
from portal.core.errors import Conflict, NotPermitted
from tests.rig.slapd import BASE, people_dn
from workspaces.access.actors import actor_of
from workspaces.identity import directory_sync, directory_threads
from workspaces.identity.directory_sync import (
    due_providers,
    last_runs,
    link_people,
    sync_provider,
)
from workspaces.models import DirectoryRun, Identity, Membership, Provider, User
from workspaces.tenancy.scope import no_scope, org_scope, platform_scope


@pytest.fixture
def sync(story, wide):
    def run(**more):
        with no_scope():
            return sync_provider(actor=actor_of(story.dot), provider=wide, **more)

    return run


def members(**filters):
    with platform_scope("test"):
        return sorted(
            Membership.objects.filter(provider__slug="corp", **filters).values_list(
                "user__email", flat=True
            )
        )


def test_sync_applies_the_diff_of_the_dry_run(sync):
    dry = sync(is_dry=True)
    assert (
        dry.outcome == "dry"
        and dry.counts["new"] == 2
        and not User.objects.filter(email="ada@corp.example").exists()
    )
    assert {
        "kind": "given",
        "who": "ada@corp.example",
        "what": "lead of atlas/vision, by cn=research,ou=groups,dc=corp,dc=example",
    } in dry.lines
    done = sync()
    assert (
        done.outcome == "done"
        and done.lines == dry.lines
        and members() == ["ada@corp.example", "bob@corp.example"]
    )
    assert sync().outcome == "unchanged"


def test_sync_of_empty_directory_needs_confirmation(story, wide, sync):
    sync()
    Provider.objects.filter(id=wide.id).update(
        config=wide.config | {"people_base": f"ou=empty,{BASE}"}
    )
    wide.refresh_from_db()
    stopped = sync()
    assert (
        stopped.outcome == "stopped"
        and "from 2 of the 2 people" in stopped.message
        and len(members(user__is_active=True)) == 2
    )
    assert sync(accepted=stopped).outcome == "done" and members(user__is_active=True) == []
    assert User.objects.filter(email="ada@corp.example").exists()


def test_sync_of_unavailable_directory_fails_without_changes(wide, sync):
    sync()
    Provider.objects.filter(id=wide.id).update(config=wide.config | {"url": "ldap://127.0.0.1:1"})
    wide.refresh_from_db()
    failed = sync()
    assert (
        failed.outcome == "failed"
        and "failed (Connection refused)" in failed.message
        and len(members(user__is_active=True)) == 2
    )


def test_second_sync_of_running_directory_is_refused(wide, sync):
    assert leases.take(f"directory:{wide.id}", "somebody else", 60)
    for is_dry in (False, True):
        with pytest.raises(Conflict, match="already syncing"):
            sync(is_dry=is_dry)


def test_scheduled_sync_starts_after_first_manual_run(wide, sync):
    assert due_providers() == []
    sync()
    assert due_providers() == []
    with clock.frozen(clock.now() + timedelta(minutes=61)):
        assert [row.slug for row in due_providers()] == ["corp"]
        with no_scope():
            assert sync_provider(actor=None, provider=wide).outcome == "unchanged"
        assert due_providers() == []


def test_consecutive_unchanged_syncs_keep_one_row(wide, sync):
    sync()
    for _ in range(3):
        with no_scope():
            sync_provider(actor=None, provider=wide)
    assert [run.outcome for run in last_runs(wide)] == ["unchanged", "done"]


def test_sync_requires_owner_or_operator(story, wide, own):
    with no_scope(), pytest.raises(NotPermitted):
        sync_provider(actor=story.actor(story.ada), provider=wide)
    with org_scope(story.atlas.id), pytest.raises(NotPermitted):
        sync_provider(actor=story.actor(story.ben), provider=own)


def test_operator_links_only_accounts_proposed_by_sync(story, wide, sync):
    here = User.objects.create_user("ada@corp.example", None)
    run = sync()
    (subject,) = run.clashes
    assert [line["what"] for line in run.lines if line["kind"] == "clash"] == [
        "ada@corp.example has an account already, which isn't linked"
    ]
    with no_scope(), pytest.raises(NotPermitted):
        link_people(actor=story.actor(story.ada), provider=wide, subjects=[subject])
    with no_scope():
        link_people(actor=actor_of(story.dot), provider=wide, subjects=[subject, "made up"])
        directory_threads.work()
    assert last_runs(wide)[0].outcome == "done"
    assert Identity.objects.get(subject=subject).user == here and "ada@corp.example" in members()


def test_sync_command_prints_diff_and_fails_when_stopped(story, wide):
    out = StringIO()
    with no_scope():
        call_command("sync_directory", "corp", "--dry-run", stdout=out)
        assert (
            "ada@corp.example: member of atlas" in out.getvalue()
            and "dry: 3 people" in out.getvalue()
        )
        call_command("sync_directory", "corp", stdout=out)
        Provider.objects.filter(id=wide.id).update(
            config=wide.config | {"people_base": f"ou=empty,{BASE}"}
        )
        with pytest.raises(CommandError, match="accept"):
            call_command("sync_directory", "corp", stdout=out)
        call_command("sync_directory", "corp", "--accept", stdout=out)
        with pytest.raises(CommandError, match="no directory"):
            call_command("sync_directory", "nowhere", stdout=out)
    assert members(user__is_active=True) == []


def test_sync_after_killed_run_completes_it(wide, sync, monkeypatch):
    from workspaces.identity import provisioning_services

    monkeypatch.setattr(provisioning_services, "BATCH", 1)
    steps, real = [], provisioning_services._apply_in_transaction

    def killed(*args, **more):
        if steps:
            raise SystemExit  # as after kill -9, when no cleanup runs
        steps.append(real(*args, **more))

    monkeypatch.setattr(provisioning_services, "_apply_in_transaction", killed)
    with pytest.raises(SystemExit):
        sync()
    assert len(members()) == 1
    monkeypatch.setattr(provisioning_services, "_apply_in_transaction", real)
    assert (
        sync().outcome == "done"
        and members() == ["ada@corp.example", "bob@corp.example"]
        and sync().outcome == "unchanged"
    )


def test_sync_whose_process_died_is_shown_as_failed(wide, sync):
    with clock.frozen(clock.now() - timedelta(hours=1)):
        DirectoryRun.objects.create(provider=wide)
    assert last_runs(wide)[0].outcome == "failed" and "next run" in last_runs(wide)[0].message


def test_sync_task_runs_due_providers(wide, sync, monkeypatch, slapd):
    from workspaces import tasks

    sync()
    slapd.change(people_dn("bob"), displayName="Bob the Builder", mail="bob@corp.example")
    monkeypatch.setattr(tasks, "start_thread", directory_threads.work)
    with clock.frozen(clock.now() + timedelta(hours=2)), no_scope():
        tasks.sync_directories()
    assert last_runs(wide)[0].outcome == "unchanged" and directory_sync.due_providers() == []
