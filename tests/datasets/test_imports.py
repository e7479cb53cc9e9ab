"""Imports: sources, continuing after failures, secrets, and what must not be reached."""

from __future__ import annotations

import os
import socket
from base64 import b64encode
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
import requests

from datasets import selectors, services
from datasets.imports import running
from datasets.imports.s3 import S3Source
from datasets.models import Content, Import, ImportedFile
from datasets.services import retention
from portal.blobs.store import file_store
from portal.core import clock, leases
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted, Unavailable
from portal.core.models import Event
from portal.core.outbound_proxy import checked_proxy
from tests.rig.s3 import s3_double
from tests.rig.web import web_server
from workspaces.credentials.secrets import set_secret
from workspaces.models import Quota, TeamMembership

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
KEYS = {"access_key_id": "team/KEY", "secret_access_key": "vision/PASSWORD"}


@pytest.fixture(scope="module")
def s3():
    with s3_double() as double:
        double[1].create_bucket(Bucket="data")
        yield double


@pytest.fixture
def web(settings):
    with web_server() as server:
        settings.MUSTER_IMPORT_HOSTS = [server.host]
        yield server


def start(stage, source, **more):
    return services.start_import(actor=stage.ben, repository=stage.cifar, source=source, **more)


def ended(row):
    """Run imports until none is due, and return the row."""
    while running.run_next():
        pass
    return services.find_import(row.repository, row.id)


def contents(stage):
    """Return the bytes of the files of the newest version."""
    version = selectors.find_version(stage.cifar)
    return {
        entry.path: b"".join(file_store().read(stage.cifar.org_id, entry.sha256))
        for entry in selectors.tree_of(version).entries()
    }


def test_import_from_s3_continues_where_it_failed(stage, s3, settings, monkeypatch):
    host, client = s3
    settings.MUSTER_IMPORT_HOSTS = [host]
    files = {f"train/ü {n}.bin": os.urandom(1000 + n) for n in range(8)}
    for key, data in {**files, "train/": b"", "other/x": b"x", "train/sub/": b""}.items():
        client.put_object(Bucket="data", Key=key, Body=data)
    files["train/sub"] = b""  # nothing is in it, so it is a file
    for name in ("KEY", "PASSWORD"):
        team = {"org": stage.cifar.org, "team": stage.story.vision}
        set_secret(actor=stage.ben, name=name, value="canary", **team)
    read, seen = S3Source.read, []

    def failing(self, file, start):
        seen.append(file.path)
        if len(seen) == 5:
            raise NotPermitted("the key has expired")
        return read(self, file, start)

    monkeypatch.setattr(S3Source, "read", failing)
    monkeypatch.setattr(running, "FETCHERS", 1)
    options = {"endpoint": f"http://{host}"}
    row = start(stage, "s3://data/train", options=options, secrets=KEYS, folder="raw")
    row = ended(row)
    assert (row.state, row.error, row.version) == ("failed", "the key has expired", None)
    assert (row.files, row.bytes) == (9, 8028)
    assert (row.files_done, ImportedFile.objects.count()) == (4, 4)
    row = ended(services.resume_import(actor=stage.ben, imported=row))
    assert (row.state, row.error, row.version.number) == ("succeeded", "", 1)
    assert len(seen) == 5 + 5 and len(set(seen)) == 9  # only the one that failed came twice
    assert contents(stage) == {f"raw{key[5:]}": data for key, data in files.items()}
    assert (row.files_done, row.bytes_done) == (9, 8028)
    assert not ImportedFile.objects.exists()
    kinds = Event.objects.filter(subject_id=stage.cifar.id).order_by("id")
    found = [kind for kind in kinds.values_list("kind", flat=True) if "import" in kind]
    assert found == [
        "dataset.import_started",
        "dataset.import_failed",
        "dataset.import_resumed",
        "dataset.import_succeeded",
    ]
    assert Event.objects.filter(kind="secret.used", subject_type="dataset").count() == 4
    assert "canary" not in str(list(Event.objects.values()) + list(Import.objects.values()))
    stage.cifar.refresh_from_db()
    team = Quota.objects.get(subject_id=stage.story.vision.id, resource="storage")
    assert team.used == stage.cifar.stored_bytes == 8028


def test_large_files_continue_within_a_file(stage, web, monkeypatch):
    monkeypatch.setattr(running, "LARGE", 1 << 20)
    monkeypatch.setattr(running, "_SLICE", 1 << 20)
    data = os.urandom(8 << 20)
    web.files = {"/d/a%20b.tar": data, "/d/small": b"small"}
    web.cut["/d/a%20b.tar"] = 1
    row = ended(start(stage, f"{web.url}/d/a%20b.tar\n{web.url}/d/small"))
    assert (row.state, row.bytes_done) == ("succeeded", len(data) + 5)
    assert contents(stage) == {"a b.tar": data, "small": b"small"}  # archives stay as they are
    ranges = [asked for method, path, asked in web.requests if method == "GET" and "tar" in path]
    assert ranges[0] == "" and ranges[1].startswith("bytes=") and len(ranges) == 2
    web.cut["/e.bin"], web.has_ranges, web.files["/e.bin"] = 1, False, data[::-1]
    assert ended(start(stage, f"{web.url}/e.bin")).state == "succeeded"
    assert contents(stage)["e.bin"] == data[::-1]
    incoming = file_store().root / stage.cifar.org_id.hex / "incoming"
    assert not list(incoming.iterdir())


def test_what_may_pass_is_tried_again_and_then_told(stage, web):
    row = start(stage, f"{web.url}/none")
    row = ended(row)
    assert (row.state, "404" in row.error) == ("failed", True)
    web.files, web.cut = {"/a": b"ab"}, {"/a": 100}
    row = ended(start(stage, f"{web.url}/a"))
    assert (row.state, row.attempts) == ("queued", 1)
    assert row.due_at > clock.now()
    web.cut = {}
    with clock.frozen(clock.now() + timedelta(minutes=1)):
        row = ended(row)
    assert (row.state, row.error, row.attempts) == ("succeeded", "", 0)


def test_import_of_a_dead_process_is_taken_over(stage, web):
    web.files = {"/a": b"a"}
    row = start(stage, f"{web.url}/a")
    Import.objects.filter(id=row.id).update(state="running")
    assert leases.take(f"import-{row.id}", "another host", 60)
    assert not running.run_next()
    with clock.frozen(clock.now() + timedelta(seconds=61)):
        assert ended(row).state == "succeeded"


def test_cancel_stops_and_keeps_what_was_stored(stage, web, monkeypatch):
    web.files = {f"/{n}": bytes([n]) * 10 for n in range(5)}
    row = start(stage, "\n".join(f"{web.url}/{n}" for n in range(5)))
    report = running.imports.report_progress

    def canceling(row, files, size, stored, **more):
        if files >= 2:
            services.cancel_import(actor=stage.ben, imported=row)
        return report(row, files, size, stored, **more)

    monkeypatch.setattr(running.imports, "report_progress", canceling)
    monkeypatch.setattr(running, "FETCHERS", 1)
    monkeypatch.setattr(running, "_BATCH", 2)
    assert ended(row).state == "canceled"
    stored = Content.objects.filter(repository=stage.cifar).count()
    assert stored >= 2
    with clock.frozen(clock.now() + timedelta(days=2)):
        services.resume_import(actor=stage.ben, imported=services.find_import(stage.cifar, row.id))
        assert retention.apply_rules(stage.cifar) == 0  # kept while the import is active
        services.cancel_import(actor=stage.ben, imported=row)
        assert retention.apply_rules(stage.cifar) == stored * 10


def test_private_addresses_are_not_reached(stage, web, s3, settings):
    host, _client = s3
    settings.MUSTER_IMPORT_HOSTS = []
    for source, options in (
        (f"{web.url}/a", {}),
        ("hf://datasets/a/b", {"endpoint": web.url}),
        ("s3://data/x", {"endpoint": f"https://{host}"}),
        ("s3://data/x", {"endpoint": "https://169.254.169.254"}),
    ):
        row = ended(start(stage, source, options=options))
        assert (row.state, "not on the open internet" in row.error) == ("failed", True), source
    assert web.requests == []
    settings.MUSTER_IMPORT_HOSTS = [web.host]
    web.redirects = {"/a": "http://127.0.0.1:1/x"}
    row = ended(start(stage, f"{web.url}/a"))
    assert (row.state, "not on the open internet" in row.error) == ("failed", True)


def test_the_proxy_connects_to_the_open_internet_only(web, monkeypatch):
    def answer(address: str, target: str, password: str) -> bytes:
        with socket.create_connection((address, urlsplit(proxy).port)) as sock:
            word = b64encode(f"muster:{password}".encode()).decode()
            head = f"CONNECT {target} HTTP/1.1\r\nProxy-Authorization: Basic {word}\r\n\r\n"
            sock.sendall(head.encode())
            return sock.recv(100)

    with checked_proxy() as proxy:
        password = urlsplit(proxy).password
        assert b" 407 " in answer("127.0.0.1", web.host, "wrong")
        assert b" 403 " in answer("127.0.0.1", web.host, password)
        assert b" 403 " in answer("127.0.0.1", "localhost:1", password)
        monkeypatch.setattr("portal.core.addresses.is_open_internet", lambda address: True)
        assert b" 200 " in answer("127.0.0.1", web.host, password)
        assert b" 502 " in answer("127.0.0.1", "127.0.0.1:1", password)
    with pytest.raises(OSError):
        answer("127.0.0.1", web.host, password)


def test_directories_are_read_below_allowed_roots_only(stage, tmp_path, settings):
    from clusters.models import Cluster

    Cluster.objects.create(name="gpu", backend="local")
    outside, root = tmp_path / "outside", tmp_path / "share" / "vision" / "cifar"
    outside.mkdir()
    root.mkdir(parents=True)
    (outside / "secret").write_text("secret")
    (root / "in").mkdir()
    (root / "in" / "a.txt").write_text("a")
    (root / "b.txt").write_text("b")
    (root / "link").symlink_to(outside / "secret")
    (root / "folder-link").symlink_to(outside)
    os.mkfifo(root / "pipe")
    settings.MUSTER_IMPORT_ROOTS = [f"gpu:{tmp_path}/share/{{team}}"]
    row = ended(start(stage, f"cluster://gpu{root}"))
    assert (row.state, row.error) == ("succeeded", "")
    assert contents(stage) == {"b.txt": b"b", "in/a.txt": b"a"}
    row = ended(start(stage, f"cluster://gpu{root}/b.txt", folder="one"))
    assert contents(stage)["one/b.txt"] == b"b"
    row = ended(start(stage, f"cluster://gpu{root}/folder-link"))
    assert row.state == "failed"
    for source in (
        f"cluster://gpu{outside}",
        f"cluster://gpu{tmp_path}/share/speech",
        f"cluster://gpu{root}/../../../outside",
        f"cluster://other{root}",
    ):
        with pytest.raises(InvalidInput):
            start(stage, source)


@pytest.mark.parametrize(
    ("source", "more"),
    [
        ("", {}),
        ("ftp://example.org/a", {}),
        ("file:///etc/passwd", {}),
        ("https://user:word@example.org/a", {}),
        ("https://example.org/a\ns3://bucket/a", {}),
        ("https://[::1", {}),
        ("https://example.org:99999/a", {}),
        ("hf://datasets/only", {}),
        ("s3://bucket/a", {"secrets": {"token": "team/KEY"}}),
        ("s3://bucket/a", {"secrets": {"access_key_id": "team/KEY"}}),
        ("https://example.org/a", {"secrets": {"token": "speech/KEY"}}),
        ("https://example.org/a", {"options": {"endpoint": "https://example.org"}}),
        ("s3://bucket/a", {"options": {"endpoint": "gopher://example.org"}}),
        ("s3://bucket/a", {"options": {"endpoint": "https://key:word@example.org"}}),
        ("https://example.org/a", {"folder": "../up"}),
    ],
)
def test_what_is_no_source_is_refused(stage, source, more):
    with pytest.raises(InvalidInput):
        start(stage, source, **more)
    assert not Import.objects.exists()


def test_a_token_is_not_sent_without_encryption(stage, settings):
    with web_server() as web:
        settings.MUSTER_IMPORT_HOSTS = [urlsplit(web.url).hostname]  # of the default ports only
        team = {"org": stage.cifar.org, "team": stage.story.vision}
        set_secret(actor=stage.ben, name="T", value="canary", **team)
        row = ended(start(stage, f"{web.url}/a", secrets={"token": "team/T"}))
        assert row.state == "failed" and not web.requests


def test_only_writers_import_and_the_trash_ends_it(stage, web):
    speech = services.create_repository(
        actor=stage.ada, team=stage.story.speech, kind="dataset", name="voices"
    )
    with pytest.raises(NotPermitted):
        services.start_import(actor=stage.ben, repository=speech, source="https://example.org/a")
    web.files = {"/a": b"a"}
    row = start(stage, f"{web.url}/a")
    with pytest.raises(NotFound):
        services.find_import(speech, row.id)
    services.delete_repository(actor=stage.ben, repository=stage.cifar)
    assert ended(row).state == "failed"


def test_names_that_clash_are_refused(stage, web):
    web.files = {"/a/x": b"1", "/b/x": b"2"}
    row = ended(start(stage, f"{web.url}/a/x\n{web.url}/b/x"))
    assert (row.state, "Two files" in row.error) == ("failed", True)


def test_source_errors_are_words(stage, s3, settings):
    host, _client = s3
    settings.MUSTER_IMPORT_HOSTS = [host]
    row = ended(start(stage, "s3://no-bucket/x", options={"endpoint": f"http://{host}"}))
    assert (row.state, "NoSuchBucket" in row.error) == ("failed", True)
    source = S3Source("data", "none", endpoint=f"http://{host}")
    with pytest.raises(NotFound):
        list(source.files())
    source.close()
    with pytest.raises(Unavailable):
        S3Source("data", "x", endpoint="https://no-such-host.invalid")


def test_signature_of_an_address_is_not_told(stage, web, monkeypatch):
    def cut(*args, **given):
        raise requests.ConnectionError("Max retries exceeded with url: /a?signature=canary")

    monkeypatch.setattr("portal.core.outbound.Session.head", cut)
    row = ended(start(stage, f"{web.url}/a?signature=canary"))
    assert web.host in row.error and "canary" not in row.error


def test_nothing_is_fetched_for_who_may_no_longer_write(stage, web, monkeypatch):
    web.files = {"/a": b"a"}
    row = start(stage, f"{web.url}/a")
    TeamMembership.objects.filter(user=stage.story.ben).delete()
    assert ended(row).state == "failed"
    assert not web.requests and not Content.objects.exists()
    monkeypatch.setattr("datasets.services.imports.MOST_ACTIVE", 0)
    with pytest.raises(Conflict):
        services.resume_import(actor=stage.ada, imported=row)


def test_bucket_is_listed_as_it_comes(stage, s3, settings, monkeypatch):
    host, _client = s3
    settings.MUSTER_IMPORT_HOSTS = [host]

    def batches(*_args):
        yield [{"path": "a", "size": 1, "e_tag": None}]
        pytest.fail("more is read than is needed")

    monkeypatch.setattr("obstore.list", batches)
    source = S3Source("data", "", endpoint=f"http://{host}")
    assert next(source.files()).path == "a"
    source.close()
