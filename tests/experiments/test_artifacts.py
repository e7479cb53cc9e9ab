"""Artifacts: paths, listings, quota, REST with ranges, and the sweep of their bytes."""

from __future__ import annotations

import posixpath
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import artifacts, tasks
from experiments.comparison import compared_files
from experiments.models import Artifact, Experiment, LoggedModel, Run
from portal.blobs import files
from portal.blobs.paths import clean_path
from portal.blobs.store import file_store
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted, QuotaExceeded
from workspaces.models import Quota
from workspaces.quotas.limits import STORAGE
from workspaces.quotas.set_limits import LimitChange, set_quotas
from workspaces.tenancy.scope import no_scope, org_scope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def run(story):
    with org_scope(story.atlas.id):
        yield new_run(story, story.vision, story.ada)


def new_run(story, team, person) -> Run:
    """Return a running run, without what `experiments.services` does around it."""
    experiment, _ = Experiment.objects.get_or_create(
        org=team.org,
        team=team,
        name="Default",
        defaults={"number": Experiment.objects.count() + 1, "owner": person},
    )
    row = Run(
        org=team.org,
        experiment=experiment,
        team=team,
        owner=person,
        name="first",
        started_ms=clock.now_ms(),
    )
    row.series_owner = f"run:{row.id.hex}"
    row.save()
    return row


def used(story, subject=None) -> int:
    row = Quota.objects.filter(resource=STORAGE, subject_id=(subject or story.vision).id).first()
    return row.used if row else 0


def tree(owner, folder=""):
    return [(e.path, e.is_folder, e.size, e.files) for e in artifacts.listing(owner, folder)]


BAD_PATHS = [
    *("", "/", "/etc/passwd", "..", "../a", "a/..", "a/../b", "a/../../b", ".", "./a", "a/./b"),
    *("a//b", "a/", "a\\b", "..\\a", "C:/a", "c:", "a\0b", "a\nb", " ../a", "a/.. /b"),
    *("%2e%2e/a", "a/%2e%2e/b", "%2E%2E%2Fa", "..%2fa", "%2fetc", "a%5c..%5cb", "a%00"),
    *("%252e%252e/a", "%25252e%25252e%25252fa", "%c0%ae%c0%ae/a", "．．/a", "‥/a", "a／..／b"),
    *("a＼b", "%ef%bc%8e%ef%bc%8e/a", "\ud800", "x" * 256, "x/" * 500 + "x"),
]


@pytest.mark.parametrize("path", BAD_PATHS)
def test_path_that_leaves_the_run_is_refused(path):
    with pytest.raises(InvalidInput):
        clean_path(path)


@pytest.mark.parametrize("path", ["a", "a/b.c", "..a/b..", "100%.png", "a b/ä.txt", "a%20b", "…"])
def test_unusual_name_is_kept_as_it_is(path):
    assert clean_path(path) == path


@given(st.text(st.sampled_from("./%2eEfF5cC\\ab"), max_size=12))
def test_accepted_path_stays_below_its_folder_however_it_is_decoded(text):
    try:
        path = clean_path(text)
    except InvalidInput:
        return
    from urllib.parse import unquote

    for _ in range(5):
        assert posixpath.normpath(f"/run/{path}") == f"/run/{path}"
        path = unquote(path).replace("\\", "/")


def test_listing_has_folders_with_sizes(story, run):
    ada = story.actor(story.ada)
    for path, data in {"m/w.bin": b"123456", "m/c/x": b"12", "m.txt": b"1", "a": b""}.items():
        artifacts.put(ada, run, path, [data], size=len(data))
    assert tree(run) == [("a", False, 0, 1), ("m", True, 8, 2), ("m.txt", False, 1, 1)]
    assert tree(run, "m") == [("m/c", True, 2, 1), ("m/w.bin", False, 6, 1)]
    assert tree(run, "m.txt") == [("m.txt", False, 1, 1)] and tree(run, "none") == []
    assert b"".join(artifacts.opened(artifacts.find(run, "m/w.bin"), 2, 4)) == b"34"
    artifacts.put(ada, run, "m/w.bin", [b"new"])
    assert artifacts.find(run, "m/w.bin").size == 3 and Artifact.objects.count() == 4
    assert artifacts.delete_path(ada, run, "m") == 2
    assert tree(run) == [("a", False, 0, 1), ("m.txt", False, 1, 1)]
    with pytest.raises(NotFound):
        artifacts.delete_path(ada, run, "m")


def test_files_of_a_run_include_those_of_its_logged_models(story, run):
    ada = story.actor(story.ada)
    elsewhere = new_run(story, story.speech, story.ada).experiment
    for experiment, name in ((run.experiment, "net"), (elsewhere, "planted")):
        model = LoggedModel.objects.create(
            org=story.atlas, experiment=experiment, run=run, owner=story.ada, name=name
        )
        artifacts.put(ada, model, "data/w.bin", [b"12345"])
    artifacts.put(ada, run, "plot.png", [b"1"])
    base = f"/api/v1/orgs/atlas/runs/{run.id.hex}/artifacts"
    client = story.client(story.ada)
    listed = client.get(base).json()
    assert listed["bytes"] == 6
    assert [(e["path"], e["files"]) for e in listed["entries"]] == [("net", 1), ("plot.png", 1)]
    assert client.get(f"{base}?path=net/data").json()["entries"][0]["path"] == "net/data/w.bin"
    assert b"".join(client.get(f"{base}/net/data/w.bin").streaming_content) == b"12345"
    page = client.get(f"/atlas/runs/{run.id.hex}?tab=artifacts&path=net/data/w.bin").content
    assert b"net/data/w.bin" in page and b"planted" not in page
    assert tree(run) == [("plot.png", False, 1, 1)]  # as MLflow's clients expect
    [path, _] = compared_files([run])
    assert path.path == "net/data/w.bin"


def test_listing_costs_two_queries_and_knows_case_and_wildcards(
    story, run, django_assert_num_queries
):
    rows = [f"{folder}/{n}.txt" for folder in ("a_b", "A_B", "axb", "a%/deep") for n in range(50)]
    Artifact.objects.bulk_create(
        Artifact(org_id=run.org_id, run=run, path=path, size=1, sha256="0" * 64) for path in rows
    )
    with django_assert_num_queries(2):
        assert tree(run) == [(f, True, 50, 50) for f in ("A_B", "a%", "a_b", "axb")]
    assert len(tree(run, "a_b")) == len(tree(run, "A_B")) == 50
    assert tree(run, "a%") == [("a%/deep", True, 50, 50)]
    assert artifacts.is_folder(run, "a%") and not artifacts.is_folder(run, "a")


def test_a_name_is_either_a_file_or_a_folder(story, run):
    ada = story.actor(story.ada)
    artifacts.put(ada, run, "model/weights", [b"1"])
    for path in ("model", "model/weights/part"):
        with pytest.raises(Conflict):
            artifacts.put(ada, run, path, [b"2"])
    artifacts.put(ada, run, "model.txt", [b"3"])
    artifacts.put(ada, run, "mode", [b"4"])
    assert [e.path for e in artifacts.listing(run)] == ["mode", "model", "model.txt"]


def test_bytes_count_as_storage_and_are_refused_beyond_the_limit(story, run):
    ada = story.actor(story.ada)
    artifacts.put(ada, run, "a", [b"12345"])
    artifacts.put(ada, run, "copy", [b"12345"])
    assert [used(story, s) for s in (story.vision, story.atlas, story.ada)] == [10, 10, 10]
    set_quotas(
        actor=ada, org=story.atlas, changes=[LimitChange("team", "vision", STORAGE, 12, None)]
    )
    for path, size in (("new", 3), ("new", None), ("a", 8)):
        with pytest.raises(QuotaExceeded, match="The team uses 10 B of 12 B of storage"):
            artifacts.put(ada, run, path, [b"1" * (size or 3)], size=size)
    endless = iter(lambda: b"1", b"")  # a body without a length
    with pytest.raises(QuotaExceeded, match="this file needs 3 B"):
        artifacts.put(ada, run, "new", endless)
    artifacts.put(ada, run, "a", [b"1234567"])
    assert used(story) == 12
    artifacts.delete(ada, artifacts.find(run, "a"))
    assert used(story) == 5 and artifacts.find(run, "copy").size == 5
    artifacts.delete_all([run])
    assert used(story) == 0 and not Artifact.objects.exists()


def test_file_of_a_logged_model_counts_for_the_team_of_its_experiment(story, run):
    model = LoggedModel.objects.create(
        org=story.atlas, experiment=run.experiment, owner=story.ada, name="m"
    )
    artifacts.put(story.actor(story.ada), model, "MLmodel", [b"flavors"])
    assert used(story) == 7 and tree(run) == [] and tree(model) == [("MLmodel", False, 7, 1)]


def test_writing_takes_a_permission_and_a_run_outside_of_the_trash(story, run):
    run_of_speech = new_run(story, story.speech, story.ada)
    with pytest.raises(NotPermitted):
        artifacts.put(story.actor(story.ben), run_of_speech, "a", [b"1"])
    run.deleted_at = clock.now()
    with pytest.raises(Conflict, match="in the trash"):
        artifacts.put(story.actor(story.ada), run, "a", [b"1"])
    assert file_store().organizations() == []


def test_sweep_deletes_what_no_artifact_refers_to(story, run):
    ada = story.actor(story.ada)
    kept, gone = (artifacts.put(ada, run, name, [name.encode()]) for name in ("kept", "gone"))
    artifacts.delete(ada, gone)
    tasks.sweep_artifacts()
    assert file_store().size(story.atlas.id, gone.sha256) == 4
    with clock.frozen(clock.now() + 2 * files.GRACE), no_scope():
        tasks.sweep_artifacts()
    assert file_store().size(story.atlas.id, gone.sha256) is None
    assert b"".join(artifacts.opened(kept)) == b"kept"


def test_rest_stores_lists_and_sends_ranges(story, run):
    with no_scope():
        ada = story.api(story.ada)
        at = f"/api/v1/orgs/atlas/runs/{run.id.hex}/artifacts"
        body = b"<script>alert(1)</script>"
        made = ada.put(f"{at}/{quote('report ü.html')}", body, content_type="text/html")
        assert made.status_code == 201 and made.json()["bytes"] == len(body)
        listed = ada.get(at).json()
        assert listed["bytes"] == len(body)
        assert [e["path"] for e in listed["entries"]] == ["report ü.html"]
        got = ada.get(f"{at}/report ü.html", {"preview": "1"})
        assert got.getvalue() == body
        assert got["Content-Type"] == "application/octet-stream"
        assert got["Content-Disposition"].startswith("attachment;")
        assert got["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in got["Content-Security-Policy"]
        for asked, code, part in (
            ("bytes=0-3", 206, body[:4]),
            ("bytes=4-", 206, body[4:]),
            ("bytes=-4", 206, body[-4:]),
            ("bytes=3-1", 200, body),
            ("bytes=0-1,3-4", 200, body),
            ("bytes=25-", 416, b""),
        ):
            answer = ada.get(f"{at}/report ü.html", headers={"Range": asked})
            assert (answer.status_code, answer.getvalue()) == (code, part), asked
        etag = got["ETag"]
        again = ada.get(f"{at}/report ü.html", headers={"If-None-Match": etag})
        assert again.status_code == 304
        assert ada.put(f"{at}/..%2Fx", b"1", content_type="a/b").status_code == 400
        assert ada.delete(f"{at}/report ü.html").json() == {"deleted": 1}
        assert ada.get(f"{at}/report ü.html").status_code == 404


def test_nginx_sends_the_file_in_server_mode(story, run, settings):
    row = artifacts.put(story.actor(story.ada), run, "plot.png", [b"png"])
    settings.MUSTER_ACCEL = True
    with no_scope():
        got = story.api(story.ada).get(
            f"/api/v1/orgs/atlas/runs/{run.id.hex}/artifacts/plot.png?preview=1"
        )
    assert (
        got["X-Accel-Redirect"] == f"/_files/{file_store().accelerated(story.atlas.id, row.sha256)}"
    )
    assert got["Content-Type"] == "image/png" and got["Content-Disposition"].startswith("inline")


def test_another_tenant_finds_nothing(story, run):
    artifacts.put(story.actor(story.ada), run, "a", [b"1"])
    with no_scope():
        cyd = story.api(story.cyd)
        for org in ("atlas", "borealis"):
            at = f"/api/v1/orgs/{org}/runs/{run.id.hex}/artifacts"
            answers = [
                cyd.get(at),
                cyd.get(f"{at}/a"),
                cyd.put(f"{at}/b", b"1", content_type="a/b"),
                cyd.delete(f"{at}/a"),
            ]
            assert {answer.status_code for answer in answers} == {404}, org
    assert [row.path for row in Artifact.objects.all()] == ["a"]
