"""Workspaces: who may do what, quotas, the trash, and two writers."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from types import SimpleNamespace
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from datasets.folders import entries, selectors, services, usage
from datasets.folders.dav import bodies
from datasets.folders.representations import folder_detail
from datasets.models import FolderUpload, SharedFolder
from datasets.services import create_repository, delete_repository
from datasets.tasks import apply_retention, count_folders
from jobs.saving.versions import as_job
from portal.core import clock
from portal.core.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    NotPermitted,
    QuotaExceeded,
    TooLarge,
)
from tests.cases import read_case
from workspaces.models import Membership, Quota
from workspaces.organizations.services import add_member, add_team_member
from workspaces.tenancy.scope import no_scope, org_scope

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage(story, home):
    """Return Ada (owner of Atlas), Ben (member of Vision) and his workspace `code`."""
    with org_scope(story.atlas.id):
        ben = story.actor(story.ben)
        code = services.create_folder(actor=ben, team=story.vision, name="code")
        yield SimpleNamespace(
            story=story,
            ada=story.actor(story.ada),
            ben=ben,
            code=code,
            tree=selectors.tree_of(code),
        )


def guest(stage, name: str, team=None, role: str = "viewer"):
    """Return a function that makes the actor of a new member of Atlas without teams."""
    email = f"{name}@atlas.example"
    person = add_member(actor=stage.ada, org=stage.story.atlas, email=email).user
    if team:
        add_team_member(actor=stage.ada, team=team, email=email, role=role)
    return person, lambda: stage.story.actor(person, stage.story.atlas)


def put(actor, folder, path, data=b"12345"):
    return entries.put_file(actor=actor, folder=folder, path=path, chunks=[data], size=len(data))


def sees(actor) -> list[str]:
    return [row.name for row in selectors.visible_folders(actor).order_by("name")]


def test_invited_reader_cannot_write_and_loses_access_at_once(stage):
    eve, as_eve = guest(stage, "eve")
    assert sees(as_eve()) == []
    invited = services.invite(actor=stage.ben, folder=stage.code, user=eve)
    assert sees(as_eve()) == ["code"]
    put(stage.ben, stage.code, "a/train.py")
    for act in (
        lambda: put(as_eve(), stage.code, "a/train.py"),
        lambda: entries.make_folder(actor=as_eve(), folder=stage.code, path="b"),
        lambda: entries.move(actor=as_eve(), folder=stage.code, source="a", target="b"),
        lambda: entries.copy(actor=as_eve(), folder=stage.code, source="a", target="b"),
        lambda: entries.delete(actor=as_eve(), folder=stage.code, paths=["a"]),
        lambda: entries.start_upload(actor=as_eve(), folder=stage.code, path="b", size=1),
        lambda: services.update_folder(actor=as_eve(), folder=stage.code, quota=1),
        lambda: services.invite(actor=as_eve(), folder=stage.code, user=eve, can_write=True),
        lambda: services.delete_folder(actor=as_eve(), folder=stage.code),
    ):
        with pytest.raises(NotPermitted):
            act()
    services.invite(actor=stage.ben, folder=stage.code, user=eve, can_write=True)
    put(as_eve(), stage.code, "b")
    upload = entries.start_upload(actor=as_eve(), folder=stage.code, path="c", size=4)
    with pytest.raises(NotPermitted):  # may write, not manage
        services.update_folder(actor=as_eve(), folder=stage.code, name="mine")
    services.withdraw(actor=stage.ben, folder=stage.code, invitation=invited)
    assert sees(as_eve()) == []
    with pytest.raises(NotPermitted):
        entries.append(actor=as_eve(), upload=upload, offset=0, chunks=[b"1234"])
    assert stage.tree.find("c") is None


def test_teams_and_visibility_decide_who_sees_and_writes(stage):
    voices = services.create_folder(actor=stage.ada, team=stage.story.speech, name="voices")
    assert sees(stage.ben) == ["code"]
    services.invite(actor=stage.ada, folder=voices, team=stage.story.vision)
    assert sees(stage.ben) == ["code", "voices"]
    with pytest.raises(NotPermitted):
        put(stage.ben, voices, "a")
    services.invite(actor=stage.ada, folder=voices, team=stage.story.vision, can_write=True)
    put(stage.ben, voices, "a")
    _vic, as_vic = guest(stage, "vic", stage.story.vision)  # views only, also what is shared
    assert sees(as_vic()) == ["code", "voices"]
    for row in (stage.code, voices):
        with pytest.raises(NotPermitted):
            put(as_vic(), row, "b")
    services.update_folder(actor=stage.ben, folder=stage.code, visibility="private")
    assert sees(as_vic()) == ["voices"]
    _mia, as_mia = guest(stage, "mia", stage.story.vision, role="member")
    services.invite(actor=stage.ben, folder=stage.code, user=_mia)
    assert sees(as_mia()) == ["code", "voices"]
    with pytest.raises(NotPermitted):  # invited to read what is private
        put(as_mia(), stage.code, "b")
    put(as_mia(), voices, "b")
    row = selectors.invitations_of(voices)[0]
    services.withdraw(actor=stage.ada, folder=voices, invitation=row)
    services.update_folder(actor=stage.ada, folder=voices, visibility="organization")
    assert sees(as_mia()) == ["code", "voices"]
    with pytest.raises(NotPermitted):
        put(as_mia(), voices, "c")
    detail = folder_detail(stage.code, stage.ben)
    assert [one["person"]["email"] for one in detail["invitations"]] == ["mia@atlas.example"]
    for bad in ({}, {"team": stage.story.vision}, {"user": stage.story.cyd}):
        with pytest.raises(InvalidInput):
            services.invite(actor=stage.ben, folder=stage.code, **bad)
    Membership.objects.filter(user=_mia).delete()
    with pytest.raises(NotFound):
        as_mia()


def test_other_organizations_see_nothing(stage):
    put(stage.ben, stage.code, "a")
    with no_scope():
        cyd = stage.story.api(stage.story.cyd)
        for org in ("atlas", "borealis"):
            for path in ("", "/files/a", "/tree"):
                url = f"/api/v1/orgs/{org}/workspaces/code{path}"
                assert cyd.get(url).status_code == 404, url
            asked = cyd.generic("PROPFIND", f"/dav/{org}/code/", headers={"Depth": "1"})
            assert asked.status_code == 404
            assert cyd.get(f"/dav/{org}/code/a").status_code == 404
    with org_scope(stage.story.borealis.id):
        assert sees(stage.story.actor(stage.story.cyd)) == []


def test_quotas_of_workspace_and_team_refuse_and_leave_nothing(stage):
    team = {"subject_id": stage.story.vision.id, "resource": "storage"}
    code = services.update_folder(actor=stage.ben, folder=stage.code, quota=10)
    put(stage.ben, code, "a", b"12345678")
    code.refresh_from_db()
    assert (code.used_bytes, Quota.objects.get(**team).used) == (8, 8)
    with pytest.raises(QuotaExceeded) as refused:
        put(stage.ben, code, "b", b"123")
    assert "uses 8 B of 10 B" in str(refused.value.message)
    with pytest.raises(QuotaExceeded):  # without an announced size
        entries.put_file(actor=stage.ben, folder=code, path="b", chunks=[b"12", b"3"])
    with pytest.raises(QuotaExceeded):
        entries.start_upload(actor=stage.ben, folder=code, path="b", size=3)
    assert stage.tree.usage() == (1, 8)
    assert not list((stage.tree.path.parent / ".incoming").iterdir())
    put(stage.ben, code, "a", b"12")  # replaces
    code.refresh_from_db()
    assert (code.used_bytes, Quota.objects.get(**team).used) == (2, 2)
    Quota.objects.filter(**team).update(limit=4)
    with pytest.raises(QuotaExceeded):
        put(stage.ben, code, "c", b"123")
    assert usage.free_bytes(code) == 2
    entries.delete(actor=stage.ben, folder=code, paths=["a"])
    assert Quota.objects.get(**team).used == 0


def test_what_jobs_write_is_counted_by_the_task(stage):
    (stage.tree.path / "out").mkdir()
    (stage.tree.path / "out" / "by-job").write_bytes(b"x" * 100)
    services.update_folder(actor=stage.ben, folder=stage.code, quota=50)
    with clock.frozen(clock.now() + timedelta(hours=1)), no_scope():
        count_folders()
    stage.code.refresh_from_db()
    assert (stage.code.used_bytes, stage.code.files) == (100, 1)
    assert usage.is_full(stage.code)
    assert Quota.objects.get(subject_id=stage.story.vision.id, resource="storage").used == 100
    with pytest.raises(QuotaExceeded):
        put(stage.ben, stage.code, "more", b"1")
    (stage.tree.path / "out" / "by-job").unlink()  # a job deletes it, and nobody has counted
    put(stage.ben, usage.count(stage.code), "more", b"1")
    stage.code.refresh_from_db()
    assert stage.code.used_bytes == 1


def test_uploads_continue_where_they_ended_and_appear_at_the_end(stage):
    def broken():
        yield b"12345"
        raise InvalidInput("the connection was lost")

    upload = entries.start_upload(actor=stage.ben, folder=stage.code, path="new/a", size=8)
    with pytest.raises(InvalidInput):
        entries.append(actor=stage.ben, upload=upload, offset=0, chunks=broken())
    found = entries.find_upload(stage.ben, stage.code, upload.id)
    assert (entries.received(found), stage.tree.find("new/a")) == (5, None)
    with pytest.raises(Conflict):
        entries.append(actor=stage.ben, upload=found, offset=3, chunks=[b"45678"])
    with pytest.raises(TooLarge):
        entries.append(actor=stage.ben, upload=found, offset=5, chunks=[b"67890"])
    entries.append(actor=stage.ben, upload=found, offset=5, chunks=[b"678"])
    assert b"".join(stage.tree.read("new/a", 0, 8)) == b"12345678"
    with pytest.raises(NotFound):
        entries.find_upload(stage.ada, stage.code, upload.id)
    empty = entries.start_upload(actor=stage.ben, folder=stage.code, path="empty", size=0)
    assert empty.is_complete and stage.tree.entry("empty").size == 0
    upload = entries.start_upload(actor=stage.ben, folder=stage.code, path="new", size=1)
    with pytest.raises(Conflict):  # a folder is there
        entries.append(actor=stage.ben, upload=upload, offset=0, chunks=[b"1"])
    with clock.frozen(clock.now() + timedelta(days=2)), no_scope():
        apply_retention()
    assert not FolderUpload.objects.exists()


def test_small_files_are_stored_together_and_counted(stage, django_assert_max_num_queries):
    client, url = (
        stage.story.api(stage.story.ben),
        "/api/v1/orgs/atlas/workspaces/code/contents/batch",
    )

    def send(files: dict[str, bytes], status: int, rest: bytes = b""):
        named = [{"path": path, "bytes": len(data)} for path, data in files.items()]
        body = json.dumps({"files": named}).encode() + b"\n" + b"".join(files.values()) + rest
        answer = client.put(url, body, content_type="application/octet-stream")
        assert answer.status_code == status, answer.content
        stage.code.refresh_from_db()
        assert stage.tree.usage()[1] == stage.code.used_bytes
        assert not [*stage.tree._incoming.iterdir()]

    for stranger, status in (
        (stage.story.api(stage.story.ben, scopes=("datasets:read",)), 403),
        (stage.story.api(stage.story.cyd), 404),
    ):
        assert stranger.put(url, b"", content_type="application/octet-stream").status_code == status
    put(stage.ben, stage.code, "a/7", b"longer than before")
    data = {f"a/{n}": b"%d" % n * n for n in range(300)}
    with django_assert_max_num_queries(50):  # not a number for each file
        send(data, 204)
    assert {
        path: b"".join(stage.tree.read(path, 0, len(old))) for path, old in data.items()
    } == data
    assert stage.code.used_bytes == sum(map(len, data.values()))
    for files, status in (
        ({"../b": b"x"}, 400),
        ({"b": b"x", "": b"y"}, 400),
        ({"b": b"x" * (1 << 20) + b"y"}, 400),
        ({"c": b"first", "a": b"a folder is there", "d": b"last"}, 409),
    ):
        send(files, status)
    send({"b": b"x"}, 400, b"more")
    assert stage.tree.find("b") is None and stage.tree.find("d") is None
    services.update_folder(actor=stage.ben, folder=stage.code, quota=stage.code.used_bytes + 10)
    send({"c": b"other", "e": b"123456"}, 409)
    send({"c": b"other", "e": b"12345"}, 204)
    services.update_folder(actor=stage.ben, folder=stage.code, quota=None)
    send({f"large/{n}": bytes(1 << 20) for n in range(17)}, 204)  # more than other bodies may have


def test_copies_count_and_links_are_left_out(stage):
    put(stage.ben, stage.code, "a/x")
    (stage.tree.path / "a" / "link").symlink_to("/etc/passwd")
    entries.copy(actor=stage.ben, folder=stage.code, source="a", target="b/c")
    assert [one.path for one in stage.tree.walk("b")] == ["b/c", "b/c/x"]
    stage.code.refresh_from_db()
    assert stage.code.used_bytes == 10
    with pytest.raises(InvalidInput):
        entries.copy(actor=stage.ben, folder=stage.code, source="a", target="a/b")


def test_the_trash_keeps_files_until_they_are_purged(stage):
    put(stage.ben, stage.code, "a")
    services.delete_folder(actor=stage.ben, folder=stage.code)
    with pytest.raises(NotFound):
        selectors.find_folder(stage.ben, "code")
    with pytest.raises(Conflict):
        put(stage.ben, stage.code, "b")
    again = services.create_folder(actor=stage.ben, team=stage.story.vision, name="CODE")
    with pytest.raises(Conflict):
        services.restore_folder(actor=stage.ben, folder=stage.code)
    services.update_folder(actor=stage.ben, folder=again, name="other")
    services.restore_folder(actor=stage.ben, folder=stage.code)
    assert stage.tree.entry("a").size == 5
    with pytest.raises(Conflict):
        services.purge_folder(actor=stage.ben, folder=stage.code)
    services.delete_folder(actor=stage.ben, folder=stage.code)
    with clock.frozen(clock.now() + timedelta(days=31)):
        assert services.purge_trash(clock.now() - timedelta(days=30)) == 1
    assert not SharedFolder.objects.filter(id=stage.code.id).exists()
    assert Quota.objects.get(subject_id=stage.story.vision.id, resource="storage").used == 0


def test_token_of_a_team_does_not_use_invitations_of_its_owner(stage):
    voices = services.create_folder(actor=stage.ada, team=stage.story.speech, name="voices")
    services.invite(actor=stage.ada, folder=voices, user=stage.story.ben, can_write=True)
    root = "/api/v1/orgs/atlas/workspaces"

    def names(client: Client) -> list[str]:
        with no_scope():
            return [row["name"] for row in client.get(root).json()["items"]]

    assert names(stage.story.api(stage.story.ben)) == ["code", "voices"]
    assert names(stage.story.api(stage.story.ben, scopes=("jobs:read",))) == []
    from workspaces.credentials.tokens import create_token

    made = create_token(
        actor=stage.ben, org=stage.story.atlas, name="t", scopes=["all"], team=stage.story.vision
    )
    client = Client(headers={"Authorization": f"Bearer {made.secret}"})
    assert names(client) == ["code"]


@pytest.mark.django_db(transaction=True)
def test_two_writers_get_one_whole_file_and_a_right_count(stage):
    """Writers of one file: the last one wins, and the quota never admits too much."""
    services.update_folder(actor=stage.ben, folder=stage.code, quota=3000)

    def write(number: int) -> str:
        try:
            with org_scope(stage.story.atlas.id):
                put(stage.ben, stage.code, f"f{number % 3}", bytes([65 + number]) * 1000)
                if number % 3 == 2:
                    put(stage.ben, stage.code, f"more{number}", b"x" * 900)
            return "stored"
        except QuotaExceeded:
            return "full"
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(write, range(24)))
    assert {"stored", "full"} == set(found)
    files, size = stage.tree.usage()
    stage.code.refresh_from_db()
    assert stage.code.used_bytes == size <= 3000, files
    for name in ("f0", "f1", "f2"):
        if entry := stage.tree.find(name):
            data = b"".join(stage.tree.read(name, 0, entry.size))
            assert len(data) == 1000 and len(set(data)) == 1


def test_copy_that_would_replace_its_own_source_keeps_it(stage):
    put(stage.ben, stage.code, "a/b")
    for target in ("a", "a/b"):
        with pytest.raises((Conflict, InvalidInput)):
            entries.copy(
                actor=stage.ben, folder=stage.code, source="a/b", target=target, replaces=True
            )
    assert stage.tree.entry("a/b").size == 5


def test_job_writes_but_does_not_manage_what_its_submitter_owns(stage):
    team = stage.story.vision
    job = as_job(stage.ben, team.id, uuid4())
    put(job, stage.code, "a")
    mine = create_repository(actor=job, team=team, kind="checkpoint", name="mine")
    for act in (
        lambda: services.update_folder(actor=job, folder=stage.code, visibility="organization"),
        lambda: services.invite(actor=job, folder=stage.code, team=stage.story.speech),
        lambda: services.delete_folder(actor=job, folder=stage.code),
        lambda: delete_repository(actor=job, repository=mine),
    ):
        with pytest.raises(NotPermitted):
            act()
    delete_repository(actor=stage.ben, repository=mine)


def test_storage_shows_what_workspaces_take(stage):
    story = stage.story
    voices = services.create_folder(actor=stage.ada, team=story.speech, name="voices")
    put(stage.ada, voices, "a", b"1" * 100)
    put(stage.ben, stage.code, "a", b"1" * 10)
    entries.start_upload(actor=stage.ben, folder=stage.code, path="b", size=5)
    gone = services.create_folder(actor=stage.ben, team=story.vision, name="gone")
    put(stage.ben, gone, "a", b"12")
    services.delete_folder(actor=stage.ben, folder=gone)

    def use(client: Client, query: str = "") -> dict:
        with no_scope():
            return client.get(f"/api/v1/orgs/atlas/storage/use{query}").json()

    ada, ben = use(story.api(story.ada)), use(story.api(story.ben))
    assert [(row["title"], row["bytes"]) for row in ada["largest"]] == [
        ("voices", 100),
        ("code", 10),
    ]
    assert [(row["title"], row["bytes"]) for row in ben["largest"]] == [("code", 10)]
    totals = {row["kind"]: (row["count"], row["bytes"]) for row in ben["totals"]}
    assert totals["workspace"] == (2, 12)
    assert sorted((row["title"], row["bytes"]) for row in ben["unused"]) == [
        ("code", 0),
        ("gone", 2),
    ]
    assert use(story.api(story.ada), "?team=speech")["largest"][0]["title"] == "voices"
    with no_scope():
        for page in ("use", "unused"):
            assert story.client(story.ben).get(f"/atlas/storage/{page}").status_code == 200


BODIES = {
    "names": (read_case("propfind-20000.xml"), 413),
    "fewer names": (b'<propfind xmlns="DAV:"><prop>' + b"<a/>" * 300 + b"</prop></propfind>", 400),
    "depth": (b"<a>" * 200 + b"</a>" * 200, 400),
    "entities": (b'<!DOCTYPE a [<!ENTITY b "' + b"c" * 999 + b'">]><a>&b;</a>', 400),
    "attributes": (b"<a " + b" ".join(b'b%d=""' % n for n in range(500)) + b"/>", 400),
    "no XML": (b"<a", 400),
}


def test_xml_that_costs_much_is_refused_before_it_is_answered(stage, subtests):
    for number in range(3):
        put(stage.ben, stage.code, f"many/{number}")
    client = stage.story.api(stage.story.ben)
    with no_scope():
        client.generic("PROPFIND", "/dav/atlas/code/", headers={"Depth": "0"})  # imports WsgiDAV
    for name, (body, status) in BODIES.items():
        for method, depth in (
            ("PROPFIND", "0"),
            ("PROPFIND", "1"),
            ("PROPPATCH", "0"),
            ("LOCK", "0"),
        ):
            with subtests.test(name=name, method=method, depth=depth), no_scope():
                before = time.process_time()
                answer = client.generic(
                    method, "/dav/atlas/code/many/", body, headers={"Depth": depth}
                )
                assert time.process_time() - before < 0.25  # 7.7 s before, times the members
                assert answer.status_code == status, answer.content


def test_names_times_members_of_a_folder_are_bounded(stage, monkeypatch):
    for number in range(5):
        put(stage.ben, stage.code, f"many/{number}")
    client = stage.story.api(stage.story.ben)
    monkeypatch.setattr(bodies, "MOST_ANSWERS", 45)

    def ask(names: bytes):
        body = b'<propfind xmlns="DAV:">%s</propfind>' % names
        with no_scope():
            return client.generic("PROPFIND", "/dav/atlas/code/many", body, headers={"Depth": "1"})

    assert ask(b"<prop>%s</prop>" % (b"<getetag/>" * 4)).status_code == 207
    for names in (b"<prop>%s</prop>" % (b"<getetag/>" * 5), b"<allprop/>", b"<name/>"):
        refused = ask(names)
        assert refused.status_code == 413 and b"6 entries" in refused.content


def test_listing_by_webdav_asks_for_all_locks_once(stage):
    for number in range(30):
        put(stage.ben, stage.code, f"many/{number}")
    client = stage.story.api(stage.story.ben)

    def ask(method: str, path: str, body: bytes = b"", **headers: str):
        with no_scope(), CaptureQueriesContext(connection) as queries:
            answer = client.generic(method, f"/dav/atlas/code/{path}", body, headers=headers)
        locks = [one for one in queries if "datasets_folderlock" in one["sql"]]
        return answer, len(locks)

    lock = (
        b'<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope>'
        b"<locktype><write/></locktype></lockinfo>"
    )
    first = ask("LOCK", "many/7", lock, Depth="0")[0]
    assert first.status_code == 200, first.content.decode()
    listed, asked = ask("PROPFIND", "many/", Depth="1")
    assert (listed.status_code, asked) == (207, 1)
    assert listed.content.count(b"activelock>") == 2  # of one file, begin and end
    assert ask("PUT", "many/7", b"x")[0].status_code == 423
