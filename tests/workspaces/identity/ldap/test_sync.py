"""A directory as a whole, from a real slapd: by a person, by the clock and by a command."""

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


def test_a_dry_run_shows_the_diff_and_a_run_makes_it_true(sync):
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


def test_a_directory_that_answers_with_nobody_empties_nothing_until_that_is_accepted(
    story, wide, sync
):
    sync()
    Provider.objects.filter(id=wide.id).update(
        config=wide.config | {"people_base": f"ou=empty,{BASE}"}
    )
    wide.refresh_from_db()
    stopped = sync()
    assert (
        stopped.outcome == "stopped"
        and "2 of the 2" in stopped.message
        and len(members(user__is_active=True)) == 2
    )
    assert sync(accepted=stopped).outcome == "done" and members(user__is_active=True) == []
    assert User.objects.filter(email="ada@corp.example").exists()


def test_a_directory_that_is_down_fails_the_run_and_changes_nothing(wide, sync):
    sync()
    Provider.objects.filter(id=wide.id).update(config=wide.config | {"url": "ldap://127.0.0.1:1"})
    wide.refresh_from_db()
    failed = sync()
    assert (
        failed.outcome == "failed"
        and "Nothing listens on" in failed.message
        and len(members(user__is_active=True)) == 2
    )


def test_two_runs_of_one_directory_are_never_at_once(wide, sync):
    assert leases.take(f"directory:{wide.id}", "somebody else", 60)
    for is_dry in (False, True):
        with pytest.raises(Conflict, match="right now"):
            sync(is_dry=is_dry)


def test_the_clock_begins_only_after_a_person_has_seen_the_first_run(wide, sync):
    assert due_providers() == []
    sync()
    assert due_providers() == []
    with clock.frozen(clock.now() + timedelta(minutes=61)):
        assert [row.slug for row in due_providers()] == ["corp"]
        with no_scope():
            assert sync_provider(actor=None, provider=wide).outcome == "unchanged"
        assert due_providers() == []


def test_runs_that_change_nothing_leave_one_row(wide, sync):
    sync()
    for _ in range(3):
        with no_scope():
            sync_provider(actor=None, provider=wide)
    assert [run.outcome for run in last_runs(wide)] == ["unchanged", "done"]


def test_only_owners_of_the_organization_and_operators_may(story, wide, own):
    with no_scope(), pytest.raises(NotPermitted):
        sync_provider(actor=story.actor(story.ada), provider=wide)
    with org_scope(story.atlas.id), pytest.raises(NotPermitted):
        sync_provider(actor=story.actor(story.ben), provider=own)


def test_an_operator_links_an_account_that_the_run_has_shown_and_no_other(story, wide, sync):
    here = User.objects.create_user("ada@corp.example", None)
    run = sync()
    (subject,) = run.clashes
    assert [line["what"] for line in run.lines if line["kind"] == "clash"] == [
        "ada@corp.example has an account already that is not linked"
    ]
    with no_scope(), pytest.raises(NotPermitted):
        link_people(actor=story.actor(story.ada), provider=wide, subjects=[subject])
    with no_scope():
        link_people(actor=actor_of(story.dot), provider=wide, subjects=[subject, "made up"])
        directory_threads.work()
    assert last_runs(wide)[0].outcome == "done"
    assert Identity.objects.get(subject=subject).user == here and "ada@corp.example" in members()


def test_the_command_prints_the_diff_and_says_by_its_end_when_it_was_stopped(story, wide):
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


def test_a_run_that_was_killed_between_two_steps_is_finished_by_the_next(wide, sync, monkeypatch):
    from workspaces.identity import provisioning_services

    monkeypatch.setattr(provisioning_services, "BATCH", 1)
    steps, real = [], provisioning_services._in_one_step

    def killed(*args, **more):
        if steps:
            raise SystemExit  # as kill -9: nothing of ours runs after it
        steps.append(real(*args, **more))

    monkeypatch.setattr(provisioning_services, "_in_one_step", killed)
    with pytest.raises(SystemExit):
        sync()
    assert len(members()) == 1
    monkeypatch.setattr(provisioning_services, "_in_one_step", real)
    assert (
        sync().outcome == "done"
        and members() == ["ada@corp.example", "bob@corp.example"]
        and sync().outcome == "unchanged"
    )


def test_a_run_whose_process_died_says_so(wide, sync):
    with clock.frozen(clock.now() - timedelta(hours=1)):
        DirectoryRun.objects.create(provider=wide)
    assert last_runs(wide)[0].outcome == "failed" and "next run" in last_runs(wide)[0].message


def test_the_task_runs_what_is_due(wide, sync, monkeypatch, slapd):
    from workspaces import tasks

    sync()
    slapd.change(people_dn("bob"), displayName="Bob the Builder", mail="bob@corp.example")
    monkeypatch.setattr(tasks, "start_thread", directory_threads.work)
    with clock.frozen(clock.now() + timedelta(hours=2)), no_scope():
        tasks.sync_directories()
    assert last_runs(wide)[0].outcome == "unchanged" and directory_sync.due_providers() == []
