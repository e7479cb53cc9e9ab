"""The command palette: what it finds, the actions that it offers, and who sees them."""

from __future__ import annotations

import re

import pytest
from django.utils import translation

from clusters.models import Cluster, Node
from tests.jobs.stage import cluster_with, submit

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def work(story):
    """Create two jobs, and a node that can be drained."""
    cluster_with(gpus=2)
    for name, owner in (("llm-train", story.ada), ("vit-test", story.ben)):
        submit(story, owner, name=name)
    slurm = Cluster.objects.create(name="hpc", backend="slurm")
    for name, is_drained in (("s1", False), ("s2", True)):
        Node.objects.create(cluster=slurm, name=name, is_drained=is_drained, cpus=8, memory=2**35)
    return story


def found(story, person, text, area="atlas"):
    """Return titles and addresses by kind, without the guide (tests/guide)."""
    groups = story.client(person).get(f"/{area}/find", {"q": text}).json()["groups"]
    return {
        group["kind"]: {item["title"]: item["url"] for item in group["items"]}
        for group in groups
        if group["kind"] != "help"
    }


def test_palette_finds_substrings_by_kind_within_the_organization(work):
    assert list(found(work, work.ada, "t")["jobs"]) == ["#2 vit-test", "#1 llm-train"]
    assert list(found(work, work.ada, "lm ai")["jobs"]) == ["#1 llm-train"]
    assert list(found(work, work.ada, "#2")["jobs"]) == ["#2 vit-test"]
    assert list(found(work, work.ada, "isio")["teams"]) == ["Vision"]
    assert work.ben.display_name in found(work, work.ada, "ben@")["people"]
    assert found(work, work.ada, "n0")["nodes"] == {"n0": "/atlas/nodes/n0?cluster=local"}
    assert not {"clusters", "acts"} & set(found(work, work.ada, "drain s1"))
    for text in ("test", "vision", "ben"):
        assert found(work, work.cyd, text, "borealis") == {}
    assert found(work, work.ada, "  ") == {}


def test_palette_of_operators_finds_the_platform_and_the_last_organization(work):
    client = work.client(work.dot)
    client.get("/atlas/")
    groups = client.get("/platform/find", {"q": "s"}).json()["groups"]
    kinds = {group["kind"]: [item["title"] for item in group["items"]] for group in groups}
    assert kinds["nodes"] == ["s1", "s2"] and "Atlas" in kinds["organizations"]
    assert kinds["jobs"] == ["#2 vit-test"]
    assert "Jobs · Atlas" in [group["label"] for group in groups]
    assert [work.cyd.display_name] == list(found(work, work.dot, "cyd", "platform")["people"])
    assert found(work, work.dot, "drain s", "platform")["acts"] == {
        "Drain s1": "/platform/nodes/s1?cluster=hpc&dialog=drain"
    }
    assert list(found(work, work.dot, "resume")["acts"]) == ["Resume s2"]
    assert work.client(work.ada).get("/platform/find", {"q": "a"}).status_code == 403


def items(client, path):
    return client.get(path).context["palette"]()


def test_every_action_leads_to_its_dialog(subtests, work):
    for person, path in ((work.ada, "/atlas/jobs"), (work.dot, "/platform/clusters")):
        client = work.client(person)
        for item in items(client, path):
            url = item["url"]
            if not url.startswith(("/atlas/", "/platform/")):
                continue  # of the account, or of no page
            with subtests.test(url=url):
                answer = client.get(url)
                assert answer.status_code == 200
                dialog = re.search(r"\?dialog=([a-z-]+)", url)
                main = answer.content.decode().partition("<main")[2].partition("</main>")[0]
                if dialog and "<dialog" in main:
                    opened = rf'<dialog[^>]* id="{dialog[1]}"[^>]* open'
                    assert re.search(opened, main)


SAME = {
    "Invite people": ("invite", "add user", "member"),
    "New token": ("api key", "create token"),
    "Dark theme": ("dark mode",),
    "Add notification channel": ("slack",),
    "Upload data": ("new dataset", "import"),
}


def test_actions_are_found_by_other_words_in_each_language(work):
    client = work.client(work.ada)
    for language in ("en", "ko", "ja"):
        client.cookies["muster_language"] = language
        with translation.override(language):
            shown = {item["url"] or item["theme"]: item for item in items(client, "/atlas/jobs")}
        english = {item["words"].lower(): item for item in shown.values()}
        for title, texts in SAME.items():
            for text in (title.lower(), *texts):
                assert any(all(w in words for w in text.split()) for words in english), (
                    text,
                    language,
                )


def test_actions_need_their_permission(work):
    def titles(person, path):
        return {item["title"] for item in items(work.client(person), path)}

    owner, member = titles(work.ada, "/atlas/jobs"), titles(work.ben, "/atlas/jobs")
    assert {"Invite people", "New team", "New job"} <= owner
    assert "New job" in member and not {"Invite people", "New team", "Clusters"} & member
    operator = titles(work.dot, "/platform/clusters")
    assert {"Connect a cluster", "Drain a node …", "Jobs"} <= operator
