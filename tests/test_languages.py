"""Languages of pages are selectable, remembered and complete."""

from __future__ import annotations

import re
import time

import pytest
from django.utils import translation

from portal.languages import catalogue, checking
from portal.languages.catalogue import Message
from portal.languages.pages import untranslated
from portal.languages.sentences import told
from schedulers.states import Reason
from tests.rig.environment import ROOT

PAIR = re.compile(r"은\(는\)|이\(가\)|을\(를\)|과\(와\)|와\(과\)|\(으\)로|\(이\)라")
RESOURCES = {
    "cpu",
    "memory",
    "gpu",
    "gpu.h100",
    "gpu.h200",
    "jobs",
    "QOS",
}  # terms of job specs and schedulers


def test_templates_have_no_untranslated_text():
    found = {
        (path.name, piece)
        for path in sorted((ROOT / "templates").rglob("*"))
        if path.suffix in {".html", ".txt"}
        for piece in untranslated(path.read_text())
    }
    assert {(name, piece) for name, piece in found if piece not in RESOURCES} == set()


def test_catalog_file_round_trip(tmp_path):
    made = [
        Message('One "line"\nand a second\\', said="한 줄"),
        Message("%(n)s job", "%(n)s jobs", said="작업 %(n)s개", files={"a.html", "b.html"}),
        Message("May", context="month", said="5월"),
        Message("old", said="낡은", is_fuzzy=True),
    ]
    path = tmp_path / "django.po"
    path.write_text(catalogue.written(made))
    assert catalogue.read(path) == {m.key: m for m in made}


FAULTS = [
    (Message("Jobs"), "not translated"),
    (Message("Jobs", said="작업", is_fuzzy=True), "fuzzy"),
    (Message("{n} of {m}", said="{n}"), "placeholders"),
    (Message("%(a)s jobs", said="작업 %(b)s"), "placeholders"),
    (Message("<b>Now</b>", said="지금"), "tags"),
    (Message("Jobs", said="ジョブ"), "another language"),
]


def test_catalog_faults_are_detected():
    for message, fault in FAULTS:
        found = list(checking.faults("ko", {message.key: message}, {message.key: message}))
        assert len(found) == 1 and fault in found[0], message


def test_korean_texts_have_no_ambiguous_particles():
    messages = catalogue.read(ROOT / "locale" / "ko" / "LC_MESSAGES" / "django.po").values()
    assert [m.said for m in messages if PAIR.search(f"{m.said}")] == []


KNOWN = {
    "must be short": "짧아야 합니다",
    "{text} is no address": "주소가 아닙니다: {text}",
    "{name} is changed.": "변경했습니다: {name}.",
    "The limit is set.": "한도를 설정했습니다.",
    "The queue {0} is closed, and {0} stays so.": "{0} 큐가 닫혔습니다.",
    "{a} of {b}: {why}": "{b} 중 {a}: {why}",
    "{n} of {all} {x} free.": "{all}개 중 {n}개 여유{x}",
    "There is no {kind} {name} here.": "여기에 없습니다: {kind} {name}.",
}


@pytest.fixture
def korean(monkeypatch):
    from portal.languages import sentences

    monkeypatch.setattr(sentences, "_messages", lambda language: list(KNOWN.items()))
    for cached in (sentences._told, sentences._catalogue):
        cached.cache_clear()
    with translation.override("ko"):
        yield
    for cached in (sentences._told, sentences._catalogue):
        cached.cache_clear()


SENTENCES = [
    ("The limit is set.", "한도를 설정했습니다."),
    ("Vision & more is changed.", "변경했습니다: Vision & more."),
    ("The limit is set. Vision is changed.", "한도를 설정했습니다. 변경했습니다: Vision."),
    ("1 of 2: The limit is set.", "2 중 1: 한도를 설정했습니다."),
    ("The queue night is closed, and night stays so.", "night 큐가 닫혔습니다."),
    (
        "The queue night is closed, and day stays so.",
        "The queue night is closed, and day stays so.",
    ),
    ("Nobody has said this.", "Nobody has said this."),
    ("The limit is set. Nobody has said this.", "한도를 설정했습니다. Nobody has said this."),
    ("{name} is changed.", "변경했습니다: {name}."),
    ("음성 인식 연구팀 is changed.", "변경했습니다: 음성 인식 연구팀."),
    ("slug: must be short", "slug: 짧아야 합니다"),
    ("email: 'x' is no address", "email: 주소가 아닙니다: 'x'"),
    ("3 of 8 are free.", "8개 중 3개 여유"),
    ("1 of 8 is free.", "8개 중 1개 여유"),
]


def test_sentences_are_translated_by_pattern(korean):
    assert [(english, told(english)) for english, said in SENTENCES if told(english) != said] == []


def test_sign_in_page_uses_browser_language(client, db):
    for asked, language in (("ko-KR,ko;q=0.9,en;q=0.5", "ko"), ("ja", "ja"), ("de", "en")):
        answer = client.get("/accounts/login/", headers={"Accept-Language": asked})
        assert (
            f'<html lang="{language}">' in answer.content.decode()
            and answer.headers["Content-Language"] == language
        )


def test_language_chosen_in_menu_overrides_browser(story):
    client = story.client(story.ada)
    assert '<button name="language" value="ko"' in client.get("/atlas/").content.decode()
    answer = client.post(
        "/accounts/language/",
        {"language": "ko"},
        headers={"Referer": "http://testserver/atlas/jobs"},
    )
    assert answer.status_code == 302 and answer["Location"].endswith("/atlas/jobs")
    cookie = next(c for name, c in client.cookies.items() if name.startswith("muster_language"))
    assert cookie["max-age"] == 31_536_000 and cookie["httponly"] and cookie["samesite"] == "Lax"
    page = client.get("/atlas/teams", headers={"Accept-Language": "ja"}).content.decode()
    assert (
        '<html lang="ko">' in page
        and 'src="/static/js/words/ko.js"' in page
        and "words/ja.js" not in page
    )


STATES = [
    ("queued, for 4 s", "대기, 4초 경과"),
    ("succeeded, 2h 04m ago", "성공, 2시간 04분 전"),
    ("running, Slurm says so, 12 min ago", "실행 중, Slurm에서 12분 전 확인"),
    (
        "unknown, cluster night silent for 3d 02h, last seen running",
        "알 수 없음, 클러스터 night 무응답 3일 02시간, 마지막 상태: 실행 중",
    ),
    ("vision, for 4 s", "vision, for 4 s"),
]


def test_state_with_source_and_age_is_translated():
    with translation.override("ko"):
        assert [(english, told(english)) for english, said in STATES if told(english) != said] == []


WHY = [
    ("en", "<strong>ben@atlas.example</strong> may submit jobs in team vision"),
    ("ko", "<strong>ben@atlas.example</strong> · vision 팀에서 · 작업 제출: 가능"),
    ("ja", "<strong>ben@atlas.example</strong> · チーム vision で · ジョブの投入: 可"),
]


def test_permission_explanation_is_translated_in_word_order(story):
    asked = {"user": "ben@atlas.example", "permission": "jobs:submit", "team": "vision"}
    for language, said in WHY:
        page = story.client(story.ada).get(
            "/atlas/access", asked, headers={"Accept-Language": language}
        )
        assert page.status_code == 200
        assert said in page.content.decode(), language


def test_job_endings_are_translated():
    texts = [text for reason in Reason for text in (reason.headline, reason.advice) if text]
    for language in ("ko", "ja"):
        with translation.override(language):
            assert [text for text in texts if told(text) == text] == [], language


def test_unknown_language_and_foreign_redirect_are_ignored(client, db):
    client.post("/accounts/language/", {"language": "tlh"})
    assert not client.cookies
    answer = client.post(
        "/accounts/language/", {"language": "ko", "next": "https://elsewhere.example/"}
    )
    assert answer["Location"] == "/"


def test_api_responses_are_english(story):
    person, program = story.client(story.ada), story.api(story.ada)
    person.post("/accounts/language/", {"language": "ko"})
    for caller in (program, person):
        person.get("/atlas/jobs")
        answer = caller.get("/api/v1/orgs/atlas/jobs/999", headers={"Accept-Language": "ko"})
        assert answer.status_code == 404 and answer.json()["detail"].isascii()
        with translation.override("ko"):
            assert (
                caller.get("/api/v1/orgs/atlas/jobs?state=none", headers={"Accept-Language": "ko"})
                .json()["detail"]
                .isascii()
            )


def test_translation_patterns_resist_redos():
    text = "The namespace x is there and is not this portal's: label it " + "=,= " * 400
    began = time.process_time()
    with translation.override("ko"):
        assert told(text) == text and told("Stop. " * 3000)
    assert time.process_time() - began < 2


AMOUNTS = [
    ("0.4 cores", "코어 0.4개", "0.4 コア"),
    ("1 GPU", "GPU 1개", "GPU 1 基"),
    ("8 GPUs (h100)", "GPU 8개 (h100)", "GPU 8 基 (h100)"),
    ("49 min", "49분", "49 分"),
    ("2.5 GPU-hours", "GPU 2.5시간", "GPU 2.5 時間"),
    ("It answered 2 s ago.", "2초 전에 응답했습니다.", "2 秒前に応答しました。"),
    (
        "Exit code 1. step 40 loss 0.40",
        "종료 코드 1. step 40 loss 0.40",
        "終了コード 1。step 40 loss 0.40",
    ),
    (
        "sealed up to now: 1,342 events",
        "현재까지 봉인됨: 이벤트 1,342개",
        "現在まで封印済み: イベント 1,342 件",
    ),
    ("Tokens", "토큰", "トークン"),
    ("256 MiB", "256 MiB", "256 MiB"),
]


def test_amounts_durations_and_endings_are_translated():
    for english, *others in AMOUNTS:
        for language, said in zip(("ko", "ja", "en"), (*others, english), strict=True):
            with translation.override(language):
                assert told(english) == said, language
