"""Models, versions, aliases, stages, approval and promotion."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction

from portal.blobs.store import file_store
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted, PortalError
from portal.core.models import Event
from portal.core.texts import mark_of
from portal.web.undo import undo_of
from registry import selectors, services, sources, tasks
from registry.models import ModelFile, ModelVersion, RegisteredModel
from registry.representations import version_detail
from registry.services.versions import About
from registry.sources import SourceFile, SourceOrigin, VersionSource
from tests.registry.conftest import MLMODEL, UNSAFE, safetensors, uploaded
from workspaces.access.actors import actor_of
from workspaces.models import Quota, TeamMembership
from workspaces.organizations.services import create_team
from workspaces.quotas.limits import STORAGE
from workspaces.tenancy.scope import org_scope

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def kinds(model) -> list[str]:
    rows = Event.objects.filter(subject_id=model.id).order_by("id")
    return [kind.removeprefix("model.") for kind in rows.values_list("kind", flat=True)]


def test_version_from_upload_has_facts_and_counts_storage(stage):
    files = {"model/MLmodel": MLMODEL, "model/weights.safetensors": safetensors(source="test")}
    version = uploaded(stage.ben, stage.model, files=files)
    assert (version.version, version.status) == (1, "READY")
    assert version.signature["inputs"] == [{"name": "x", "type": "double"}]
    facts = version.inspection["files"]["model/weights.safetensors"]["facts"]
    assert (facts["parameters"], facts["types"]) == (10, {"F32": 6, "BF16": 4})
    size = sum(map(len, files.values()))
    used = Quota.objects.get(resource=STORAGE, subject_id=stage.vision.id)
    assert used.used == version.stored_bytes == size
    services.delete_version(actor=stage.ben, version=version)
    used.refresh_from_db()
    assert used.used == 0
    again = uploaded(stage.ben, stage.model)
    assert again.version == 2, "numbers are not used again"
    assert kinds(stage.model)[:3] == ["created", "upload_started", "version_created"]


def test_files_of_ready_version_never_change(stage):
    version = uploaded(stage.ben, stage.model)
    with pytest.raises(Conflict, match="never change"):
        services.put_file(actor=stage.ben, version=version, path="b", chunks=[b"x"])
    with pytest.raises(Conflict):
        services.discard_upload(actor=stage.ben, version=version)
    assert [f.path for f in selectors.files_of(version)] == ["model.safetensors"]


def test_upload_replaces_files_and_refuses_bad_paths(stage):
    row = services.start_upload(actor=stage.ben, model=stage.model, about=About())

    def put(path, data=b"1"):
        return services.put_file(actor=stage.ben, version=row, path=path, chunks=[data])

    with pytest.raises(InvalidInput, match="no files"):
        services.finish_upload(actor=stage.ben, version=row)
    put("a/b", b"first")
    put("a/b", b"second")
    for path in ("../b", "/b", "a", "a/b/c"):
        with pytest.raises(PortalError):
            put(path)
    done = services.finish_upload(actor=stage.ben, version=row)
    assert done.stored_bytes == len(b"second")
    assert services.finish_upload(actor=stage.ben, version=row).version == done.version


def test_version_from_source_copies_files_and_metrics(stage, monkeypatch):
    stored = file_store().put(stage.story.atlas.id, [safetensors()])

    class Runs:
        def find(self, actor, uri, run_id, logged_model_id):
            if uri != "runs:/1/model":
                raise NotFound("There is no run.")
            return VersionSource([SourceFile("w.safetensors", *stored)], metrics={"accuracy": 0.9})

        def origins(self, actor, org, run_id, logged_model_id):
            return [SourceOrigin("first", f"/{org}/runs/1")]

    monkeypatch.setattr(sources, "providers", lambda: [Runs()])
    version = services.create_version(
        actor=stage.ben, model=stage.model, about=About(source="runs:/1/model")
    )
    assert (version.metrics, version.stored_bytes) == ({"accuracy": 0.9}, 0)
    with pytest.raises(NotFound):
        services.create_version(
            actor=stage.ben, model=stage.model, about=About(source="runs:/2/model")
        )
    assert RegisteredModel.objects.get(id=stage.model.id).next_version == 2


def test_alias_moves_only_under_its_condition(stage):
    first, second = uploaded(stage.ben, stage.model), uploaded(stage.ben, stage.model)

    def move(version, **condition):
        return services.set_alias(
            actor=stage.ben, version=version, alias="champion", **condition
        ).aliases

    assert move(first, if_version=0) == {"champion": 1}
    assert move(second, if_version=1) == {"champion": 2}
    with pytest.raises(Conflict, match="was moved"):
        move(first, if_version=1)
    with pytest.raises(Conflict, match="has the alias"):
        services.delete_version(actor=stage.ben, version=second)
    stage.model.refresh_from_db()
    assert selectors.find_version(stage.ben, stage.model, "champion").version == 2
    assert selectors.find_version(stage.ben, stage.model, "latest").version == 2
    services.delete_alias(actor=stage.ben, model=stage.model, alias="champion", if_version=2)
    services.delete_version(actor=stage.ben, version=second)
    for bad in ("latest", "v3", "7", "a b", "", "-x"):
        with pytest.raises(InvalidInput):
            services.set_alias(actor=stage.ben, version=first, alias=bad)


def test_stage_archives_others_on_request(stage):
    first, second = uploaded(stage.ben, stage.model), uploaded(stage.ben, stage.model)
    services.set_stage(actor=stage.ben, version=first, stage="production")
    services.set_stage(
        actor=stage.ben, version=second, stage="Production", archive_existing_versions=True
    )
    rows = ModelVersion.objects.order_by("version").values_list("version", "stage")
    assert list(rows) == [(1, "Archived"), (2, "Production")]
    with pytest.raises(InvalidInput):
        services.set_stage(actor=stage.ben, version=first, stage="Live")


def test_approval_needs_that_files_of_unknown_formats_are_acknowledged(stage):
    files = {"model.h5": b"\x89HDF\r\n\x1a\n", "README.md": b"# Digits"}
    version = uploaded(stage.ben, stage.model, files=files)
    assert version.inspection["unchecked"] == ["model.h5"]
    with pytest.raises(Conflict, match="h5 was not checked"):
        services.request_approval(actor=stage.ben, version=version)
    services.acknowledge_pickles(actor=stage.ben, version=version)
    services.request_approval(actor=stage.ben, version=version)


def test_approval_inspects_what_an_older_release_has_inspected(stage):
    version = uploaded(stage.ben, stage.model, files={"model.h5": b"\x89HDF\r\n\x1a\n"})
    del version.inspection["unchecked"]
    version.save()
    services.update_model(actor=stage.ben, model=stage.model, description="# Digits")
    with pytest.raises(Conflict, match="h5 was not checked"):
        services.request_approval(actor=stage.ben, version=version)


def test_approval_needs_checks_and_somebody_else(stage):
    version = uploaded(stage.ben, stage.model, files={"model.pkl": UNSAFE})
    with pytest.raises(Conflict, match="can run code"):
        services.request_approval(actor=stage.ben, version=version)
    services.acknowledge_pickles(actor=stage.ben, version=version)
    services.update_model(actor=stage.ben, model=stage.model, description=" ")
    with pytest.raises(Conflict, match="model card"):
        services.request_approval(actor=stage.ben, version=version)
    services.update_model(actor=stage.ben, model=stage.model, description="# Digits")
    with pytest.raises(Conflict, match="Nobody has requested"):
        services.decide_version(do="approve", actor=stage.ada, version=version)
    services.request_approval(actor=stage.ada, version=version)
    with pytest.raises(NotPermitted, match="Somebody else"):
        services.decide_version(do="approve", actor=stage.ada, version=version)
    with pytest.raises(NotPermitted):  # Ben may not approve anything
        services.decide_version(do="approve", actor=stage.ben, version=version)
    services.decide_version(do="withdraw", actor=stage.ada, version=version)
    services.request_approval(actor=stage.ben, version=version, note="please")
    approved = services.decide_version(do="approve", actor=stage.ada, version=version, note="fine")
    assert (approved.approval, version_detail(approved)["approval"]["by"]) == (
        "approved",
        stage.ada.email,
    )
    with pytest.raises(NotPermitted):
        services.update_version(actor=stage.ben, version=version, description="other")
    services.update_version(actor=stage.ada, version=version, tags={"tier": "gold"})
    with pytest.raises(Conflict, match="is approved"):
        services.delete_version(actor=stage.ada, version=version)
    with pytest.raises(NotPermitted):
        services.delete_model(actor=stage.ben, model=stage.model)
    services.decide_version(do="reject", actor=stage.ada, version=version, note="a bug")
    services.delete_version(actor=stage.ada, version=version)
    assert kinds(stage.model)[-4:] == [
        "version_approved",
        "version_updated",
        "version_rejected",
        "version_deleted",
    ]


def test_model_that_requires_approval_guards_aliases_and_promotion(stage):
    version = uploaded(stage.ben, stage.model)
    with pytest.raises(NotPermitted):
        services.update_model(actor=stage.ben, model=stage.model, requires_approval=True)
    services.update_model(actor=stage.ada, model=stage.model, requires_approval=True)
    speech = create_team(actor=stage.ada, org=stage.story.atlas, slug="audio", name="Audio")
    for act in (
        lambda: services.set_alias(actor=stage.ben, version=version, alias="champion"),
        lambda: services.set_stage(actor=stage.ben, version=version, stage="Production"),
        lambda: services.promote_version(actor=stage.ada, version=version, team=speech),
    ):
        version.refresh_from_db()
        with pytest.raises(Conflict, match="requires approval"):
            act()
    services.request_approval(actor=stage.ben, version=version)
    services.decide_version(do="approve", actor=stage.ada, version=version)
    services.set_alias(actor=stage.ben, version=version, alias="champion")
    with pytest.raises(Conflict, match="in use"):
        services.decide_version(do="reject", actor=stage.ada, version=version)


def test_page_of_a_model_recommends_only_what_is_approved(stage):
    versions = [uploaded(stage.ben, stage.model) for _ in range(2)]
    client, path = stage.story.client(stage.story.ada), "/atlas/models/vision/digits"

    def shown() -> str:
        return client.get(path).content.decode()

    assert "models:/digits/latest" in shown()
    services.update_model(actor=stage.ada, model=stage.model, requires_approval=True)
    assert "No approved version yet." in shown() and "Use in a job" not in shown()
    services.request_approval(actor=stage.ben, version=versions[1])
    assert f'href="{path}/versions/2#approval"' in shown()
    versions[0].refresh_from_db()
    services.request_approval(actor=stage.ben, version=versions[0])
    services.decide_version(do="approve", actor=stage.ada, version=versions[0])
    page = shown()
    assert "models:/digits/1" in page and "models:/digits/latest" not in page
    assert "Version 2 is not approved." in page
    row = client.get("/atlas/models").context["list"].rows[0]
    assert (row["approved"], row["requested"]) == (1, 1)


def test_promotion_shares_bytes_and_starts_without_approval(stage):
    version = uploaded(stage.ben, stage.model, about=About(description="first", tags={"a": "1"}))
    audio = create_team(actor=stage.ada, org=stage.story.atlas, slug="audio", name="Audio")
    with pytest.raises(NotPermitted):
        services.promote_version(actor=stage.ben, version=version, team=audio)
    made = services.promote_version(actor=stage.ada, version=version, team=audio)
    assert (made.model.team, made.model.name, made.version) == (audio, "digits", 1)
    assert (made.promoted_from_id, made.approval) == (version.id, "none")
    assert (made.description, made.tags, made.stored_bytes) == ("first", {"a": "1"}, 0)
    assert ModelFile.objects.values("sha256").distinct().count() == 1
    services.delete_version(actor=stage.ben, version=version)
    made.refresh_from_db()
    assert made.promoted_from_id is None and selectors.files_of(made)
    assert services.promote_version(actor=stage.ada, version=made, team=audio, name="other")
    with pytest.raises(InvalidInput):
        services.promote_version(actor=stage.ada, version=made, team=audio)


def test_version_is_copied_by_its_uri_unless_its_model_requires_approval(stage):
    version = uploaded(stage.ben, stage.model, about=About(description="first"))
    other = services.create_model(actor=stage.ben, team=stage.model.team, name="copies")
    services.set_alias(actor=stage.ben, version=version, alias="best")
    for model, uri, number in (
        (other, "models:/digits/1", 1),
        (other, "models:/digits@best", 2),
        (stage.model, "models:/digits/latest", 2),
    ):
        made = services.create_version(actor=stage.ben, model=model, about=About(source=uri))
        assert (made.version, made.source, made.promoted_from_id) == (number, uri, version.id)
        assert [f.sha256 for f in selectors.files_of(made)] == [
            f.sha256 for f in selectors.files_of(version)
        ]
        assert made.stored_bytes == 0
    services.update_model(actor=stage.ada, model=stage.model, requires_approval=True)
    with pytest.raises(Conflict, match="requires approval"):
        services.create_version(
            actor=stage.ben, model=other, about=About(source="models:/digits/1")
        )
    with pytest.raises(NotFound):
        services.create_version(
            actor=stage.ben, model=other, about=About(source="models:/digits/9")
        )


def test_model_is_updated_when_the_stage_of_a_version_changes_or_it_is_deleted(stage):
    version = uploaded(stage.ben, stage.model)
    times = [selectors.find_model(stage.ben, stage.model.team, "digits").updated_at]
    services.set_stage(actor=stage.ben, version=version, stage="Staging")
    times.append(selectors.find_model(stage.ben, stage.model.team, "digits").updated_at)
    services.delete_version(actor=stage.ben, version=version)
    times.append(selectors.find_model(stage.ben, stage.model.team, "digits").updated_at)
    assert times == sorted(set(times))


def test_version_that_changed_meanwhile_is_not_promoted(stage):
    audio = create_team(actor=stage.ada, org=stage.story.atlas, slug="audio", name="Audio")
    version = uploaded(stage.ben, stage.model)
    seen = ModelVersion.objects.select_related("model__team").get(id=version.id)
    seen.approval = ModelVersion.Approval.APPROVED  # as it was before somebody revoked that
    RegisteredModel.objects.update(requires_approval=True)
    with pytest.raises(Conflict, match="can be promoted once it is approved"):
        services.promote_version(actor=stage.ada, version=seen, team=audio)
    services.delete_version(actor=stage.ben, version=version)
    with pytest.raises(NotFound, match="This version was deleted"):
        services.promote_version(actor=stage.ada, version=seen, team=audio)
    assert RegisteredModel.objects.count() == 1


def test_stale_edit_is_refused(stage):
    seen = stage.model.updated_at
    services.update_model(actor=stage.ben, model=stage.model, tags={"a": 1}, seen_at=seen)
    with pytest.raises(Conflict, match="Somebody has changed"):
        services.update_model(actor=stage.ben, model=stage.model, description="x", seen_at=seen)
    row = services.update_model(actor=stage.ben, model=stage.model, tags={"b": "2", "a": None})
    assert row.tags == {"b": "2"}


def test_trash_frees_name_and_restores(stage):
    uploaded(stage.ben, stage.model)
    with pytest.raises(Conflict, match="already has a model"):
        services.create_model(actor=stage.ben, team=stage.vision, name="digits")
    services.delete_model(actor=stage.ben, model=stage.model)
    with pytest.raises(Conflict, match="trash"):
        services.start_upload(actor=stage.ben, model=stage.model, about=About())
    other = services.create_model(actor=stage.ben, team=stage.vision, name="digits")
    with pytest.raises(Conflict, match="already has a model"):
        services.restore_model(actor=stage.ben, model=stage.model)
    with pytest.raises(Conflict, match="not in the trash"):
        services.purge_model(actor=stage.ben, model=other)
    services.update_model(actor=stage.ben, model=other, name="letters")
    services.restore_model(actor=stage.ben, model=stage.model)
    assert selectors.find_version(stage.ben, stage.model, 1).version == 1
    services.delete_model(actor=stage.ben, model=stage.model)
    services.purge_model(actor=stage.ben, model=stage.model)
    assert Quota.objects.get(resource=STORAGE, subject_id=stage.vision.id).used == 0


def test_long_deleted_models_and_abandoned_uploads_are_purged(stage):
    uploaded(stage.ben, stage.model)
    row = services.start_upload(actor=stage.ben, model=stage.model, about=About())
    services.put_file(actor=stage.ben, version=row, path="a", chunks=[b"12345"])
    tasks.purge()
    assert ModelVersion.objects.count() == 2
    ModelVersion.objects.update(updated_at=clock.now() - timedelta(days=2))
    tasks.purge()
    assert list(ModelVersion.objects.values_list("status", flat=True)) == ["READY"]
    services.delete_model(actor=stage.ben, model=stage.model)
    tasks.purge()
    RegisteredModel.objects.update(deleted_at=clock.now() - timedelta(days=400))
    tasks.purge()
    assert not RegisteredModel.objects.exists()
    assert Quota.objects.get(resource=STORAGE, subject_id=stage.vision.id).used == 0


def test_other_tenants_and_teams_find_nothing(stage, story):
    version = uploaded(stage.ben, stage.model)
    create_team(actor=stage.ada, org=story.atlas, slug="audio", name="Audio")
    with org_scope(story.borealis.id):
        cyd = actor_of(story.cyd).enter(story.borealis)
        with pytest.raises(NotFound):
            selectors.find_model(cyd, "vision", "digits")
        assert not ModelVersion.objects.filter(id=version.id).exists()
    TeamMembership.objects.filter(user=story.ben).delete()
    with pytest.raises(NotFound):
        selectors.find_model(actor_of(story.ben).enter(story.atlas), "vision", "digits")


@pytest.mark.django_db(transaction=True)
def test_concurrent_registrations_get_different_numbers(stage):
    org = stage.story.atlas.id
    numbers, failures = [], []
    barrier = threading.Barrier(6)

    def register(number):
        try:
            with org_scope(org):
                barrier.wait(30)
                version = uploaded(stage.ben, stage.model)
                services.set_alias(actor=stage.ben, version=version, alias="champion")
                numbers.append(version.version)
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=register, args=[n]) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert sorted(numbers) == [1, 2, 3, 4, 5, 6]
    row = RegisteredModel.objects.get(id=stage.model.id)
    assert row.aliases["champion"] in numbers and row.next_version == 7


@pytest.mark.django_db(transaction=True)
def test_concurrent_moves_of_alias_let_one_win(stage):
    versions = [uploaded(stage.ben, stage.model) for _ in range(4)]
    won, lost = [], []
    barrier = threading.Barrier(4)

    def move(version):
        with org_scope(stage.story.atlas.id):
            barrier.wait(30)
            try:
                services.set_alias(actor=stage.ben, version=version, alias="champion", if_version=0)
                won.append(version.version)
            except Conflict:
                lost.append(version.version)
            finally:
                connection.close()

    threads = [threading.Thread(target=move, args=[version]) for version in versions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(won) == 1 and len(lost) == 3
    with transaction.atomic():
        assert RegisteredModel.objects.get(id=stage.model.id).aliases == {"champion": won[0]}


def test_pages_do_not_undo_or_overwrite_what_others_have_done(stage):
    web, page = stage.story.client(stage.story.ben), "/atlas/models/vision/digits"
    for _ in range(3):
        uploaded(stage.ben, stage.model)

    def act(**fields):
        """Submit a form of the page; return its undo, None if it was refused."""
        shown = web.post(page, fields, follow=True)
        [message] = shown.context["messages"]
        stage.model.refresh_from_db()
        return undo_of(message)

    undo = act(do="alias-set", alias="best", version="1", was="")
    assert act(do="alias-set", alias="best", version="2", was="") is None
    assert act(do="alias-set", alias="best", version="2", was="best=1")
    assert act(**undo.fields) is None, "it points elsewhere by now"
    assert stage.model.aliases == {"best": 2}
    undo = act(do="card", description="mine", was=mark_of("# Digits"))
    assert act(do="card", description="theirs", was=mark_of("# Digits")) is None
    assert act(do="card", description="theirs", was=mark_of("mine"))
    assert act(**undo.fields) is None and stage.model.description == "theirs"
    services.update_model(actor=stage.ben, model=stage.model, tags={"a": "1"})
    assert act(do="settings", name="digits", tags="", was=mark_of("")) is None
    assert stage.model.tags == {"a": "1"}
