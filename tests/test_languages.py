"""Languages of pages are selectable, remembered and complete."""

from __future__ import annotations

import copy
import json
import pickle
import re
from collections.abc import Iterator
from datetime import timedelta

from babel.messages.catalog import Catalog
from django.template.base import Lexer, TokenType
from django.utils import translation

from clusters.models import Cluster
from jobs.models import Job
from jobs.selectors.representations import state_text
from portal.core import clock, messages
from portal.core.errors import InvalidInput
from portal.core.formatting import amount_text, span_text
from portal.core.messages import Message
from portal.management.commands.messages import _mo, faults_of, messages_of, without_context
from portal.web.translation import translated
from schedulers.exit_reasons import ProcessEnd, classify
from schedulers.states import Reason, State
from tests.message_pieces import pieces
from tests.rig.environment import ROOT
from workspaces.identity import sign_in_page

APPS = [
    "portal",
    "schedulers",
    "workspaces",
    "clusters",
    "datasets",
    "registry",
    "jobs",
    "experiments",
    "monitoring",
]
_PIECES = """
def whose(team):
    return team or "the team"

def text(names):
    more = f"{len(names)} more" if names else Message("{n} more", n=0)
    return Message("{a} {b} {c} {d}", a=whose(""), b=more, c=" and ".join(names), d=Message("one"))
"""
RESOURCES = {
    "PCIe",
    "NVLink",
    "Prometheus",
    "dcgm-exporter",
    "cpu",
    "memory",
    "gpu",
    "gpu.h100",
    "gpu.h200",
    "jobs",
    "QOS",
    "UUID",
}  # terms of job specs and schedulers


# Names and units, the same in every language, and addresses; what stands in code, keys and drawings is no text.
_NAMES = re.compile(
    r"\b(Muster|GPUs?|CPUs?|API|LDAP|SAML|OIDC|SCIM|SSO|Ctrl|Enter|YAML|JSON|CSV|PNG|PDF|FOCUS|Slurm|Kubernetes|UTC|Id|URL|DN|IP|PEM|GiB|TLS|PKCE|muster|curl|W|X|Y|MLflow|SHA-256|opset)\b|°C|/[\w./-]+"
)
_CODE = re.compile(r"<(pre|code|kbd|svg|script|style|c-copy)\b[^>]*>.*?</\1>", re.DOTALL)
_SAID = re.compile(
    r"""(?<!:)\b(title|placeholder|alt|aria-label|data-label|data-confirm|data-prompt)=("[^"]*"|'[^']*')"""
)
_TAG = re.compile(r"""<(?:[^>"']|"[^"]*"|'[^']*')*>""")
_WORD = re.compile(r"[A-Za-z]{2,}|\b[A-Z]\b")
_EXAMPLE = re.compile(
    r'"\S+"\Z|"[^"]*[=:/@.\d][^"]*"\Z'
)  # "nightly", "10.20.0.0/16, 2001:db8::/32": what one would type
_NO_TEXT = re.compile(r"blocktrans(?:late)?\b|comment\b|block topic\b")
_MARK = "\x00"  # stands for a tag or a variable


def untranslated(text: str) -> Iterator[str]:
    """Each piece of plain text, as it stands."""
    bare = _CODE.sub(_MARK, "".join(_outside(text)))
    attributes = [
        m[2] for m in _SAID.finditer(bare) if m[1] != "placeholder" or not _EXAMPLE.match(m[2])
    ]
    for piece in [
        *attributes,
        *re.split(_MARK, _TAG.sub(_MARK, bare).replace("&nbsp;", " ").replace("&amp;", "&")),
    ]:
        if _WORD.search(_NAMES.sub("", piece.replace(_MARK, " "))):
            yield " ".join(piece.replace(_MARK, "…").split())


def _outside(text: str) -> Iterator[str]:
    """The template without its tags, and without what translate tags enclose."""
    inside = False
    for token in Lexer(text).tokenize():
        if token.token_type == TokenType.BLOCK and _NO_TEXT.match(token.contents):
            inside = True
        elif token.token_type == TokenType.BLOCK and inside and token.contents.startswith("end"):
            inside = False
            yield _MARK
        elif not inside:
            yield token.contents if token.token_type == TokenType.TEXT else _MARK


def test_templates_have_no_untranslated_text():
    found = {
        (path.name, piece)
        for path in sorted((ROOT / "templates").rglob("*"))
        if path.suffix in {".html", ".txt"}
        for piece in untranslated(path.read_text())
    }
    assert {(name, piece) for name, piece in found if piece not in RESOURCES} == set()


FAULTS = [
    ({"id": "Jobs"}, "not translated"),
    ({"id": "Jobs", "string": "작업", "flags": ["fuzzy"]}, "fuzzy"),
    ({"id": "{n} of {m}", "string": "{n}"}, "placeholders"),
    ({"id": "%(a)s jobs", "string": "작업 %(b)s"}, "placeholders"),
    ({"id": "<b>Now</b>", "string": "지금"}, "tags"),
    ({"id": "Jobs", "string": "ジョブ"}, "another language"),
    ({"id": "Wait.", "string": "기다리십시오."}, "not our style"),
    ({"id": "Open the line", "string": "큐 열기"}, "queue is 대기열"),
    ({"id": "The scheduler", "string": "일정"}, "without 스케줄러"),
    ({"id": "Tell them", "string": "owner 님에게 알리기"}, "English words ['owner']"),
]


def test_catalog_faults_are_detected():
    for entry, fault in FAULTS:
        catalog = Catalog("ko")
        catalog.add(**entry)
        found = list(faults_of(catalog))
        assert len(found) == 1 and fault in found[0], entry


SHORT = {
    "Down": True,
    "{n} of {m}": True,
    "Not seen yet": True,  # 12 characters
    "Account unlinked.": False,  # a sentence
    "Change the password": False,
    "100 %": False,
}


def test_short_texts_without_context_are_detected():
    catalog = Catalog()
    for text in SHORT:
        catalog.add(text)
    catalog.add("Down", context="state of a node")
    found = list(without_context(catalog))
    assert len(found) == sum(SHORT.values())
    for text, is_short in SHORT.items():
        assert any(repr(text) in fault for fault in found) == is_short, text


def test_context_of_a_message_is_extracted():
    source = """
Message("Down", context="state of a node", n=1)
Message("{n} " "left", n=2)
Message.plural(n, "{n} job", "{n} jobs", n=n, context="unit")
Message(text)
"""
    assert list(messages_of(source)) == [
        ("Down", "state of a node"),
        ("{n} left", None),
        (("{n} job", "{n} jobs"), "unit"),
    ]


def test_parameters_of_messages_are_no_english_phrases():
    assert [text for _, text in pieces(_PIECES)] == ["the team", "# more", " and "]
    found = [
        f"{path.relative_to(ROOT)}:{line} {text}"
        for app in APPS
        for path in sorted((ROOT / app).rglob("*.py"))
        if "migrations" not in path.parts
        for line, text in pieces(path.read_text())
    ]
    assert not found, "\n".join(found)


def test_translations_keep_commands_names_and_code():
    catalog = Catalog("ko")
    text = "`sbatch owner` 또는 muster login --org atlas, MLflow의 {name}, https://a.example/owner"
    catalog.add("Run {name}", string=text)
    assert list(faults_of(catalog)) == []


def test_message_keeps_template_and_parameters():
    text = Message("{name} was updated.", name="{x} & Vision")
    error = InvalidInput.at("slug", text)
    parts = Message.joined(" ", ["", text, "step 40"])
    for message in (text, amount_text("gpu", 2), Message("down", context="state of a node")):
        packed = json.dumps([message], cls=messages.MessageEncoder)
        for same in (
            copy.deepcopy(message),
            pickle.loads(pickle.dumps(message)),
            messages.loads(messages.dumps(message)),
            json.loads(packed, cls=messages.MessageDecoder)[0],
            str(InvalidInput(message)),
            message[:500],
        ):
            assert (same, vars(same)) == (message, vars(message))
    assert json.dumps(text) == '"{x} & Vision was updated."'
    assert error.message == "slug: {x} & Vision was updated."
    with translation.override("ko"):
        assert translated(error.message) == "slug: 변경했습니다: {x} & Vision."
        assert translated(parts) == "변경했습니다: {x} & Vision. step 40"


def test_context_chooses_the_translation(tmp_path, settings):
    catalog = Catalog("ko")
    catalog.add("run", "실행", context="command")
    catalog.add("run", "런", context="training run")
    catalog.add("runs", "런", context="training run")
    folder = tmp_path / "ko" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "django.mo").write_bytes(_mo(catalog))
    settings.LOCALE_PATHS = [tmp_path]
    with translation.override("ko"):
        assert translated(Message("run", context="command")) == "실행"
        assert translated(Message("run", context="training run")) == "런"
        assert translated("run", "training run") == "런"
        assert translated("runs") == "런"  # stored as plain text, before it had a context


def test_stored_text_that_looks_like_a_message_stays_text(story):
    line = '{"template": "{0.__class__}", "params": {}}'
    for text in (line, "Exit code 1. step 40", ""):
        assert messages.loads(messages.dumps(text)) == text
        with translation.override("ko"):
            assert translated(messages.loads(messages.dumps(text))) == text


def test_stored_message_is_translated_and_plain_text_is_shown(db):
    trouble = Message("{host} did not answer within {n} s.", host="10.0.0.1", n=5)
    cluster = Cluster.objects.create(name="night", backend="local", trouble=trouble)
    with translation.override("ja"):
        assert (
            translated(Cluster.objects.get().trouble)
            == "10.0.0.1 が 5 秒以内に応答しませんでした。"
        )
        Cluster.objects.filter(id=cluster.id).update(trouble="slurmctld: error 5")
        assert translated(Cluster.objects.get().trouble) == "slurmctld: error 5"
    assert Cluster.objects.filter(trouble="slurmctld: error 5").exists()


def test_sign_in_page_uses_browser_language(client, db):
    for request, language in (("ko-KR,ko;q=0.9,en;q=0.5", "ko"), ("ja", "ja"), ("de", "en")):
        answer = client.get("/accounts/login/", headers={"Accept-Language": request})
        assert (
            f'<html lang="{language}">' in answer.content.decode()
            and answer.headers["Content-Language"] == language
        )


def test_notice_of_the_sign_in_page_is_translated(client, db, monkeypatch):
    text = Message.joined(": ", ("local", Message("Jobs do not run as root.")))
    monkeypatch.setattr(sign_in_page, "notices", lambda: [text])
    page = client.get("/accounts/login/", HTTP_ACCEPT_LANGUAGE="ko").content.decode()
    assert "local: " in page and "Jobs do not run" not in page


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
    (State.QUEUED, 4, 0, "queued, for 4 s", "대기 중, 4초 경과"),
    (State.SUCCEEDED, 7440, 0, "succeeded, 2h 04m ago", "성공, 2시간 04분 전"),
    (
        State.RUNNING,
        0,
        12,
        "running, reported by this machine 12 s ago",
        "실행 중, 12초 전에 이 컴퓨터에서 보고",
    ),
    (
        State.RUNNING,
        0,
        266_400,
        "unknown: cluster night hasn't responded for 3d 02h; last seen running",
        "알 수 없음: night 클러스터가 3일 02시간 동안 응답하지 않음, 마지막 상태: 실행 중",
    ),
]


def test_state_with_source_and_age_is_translated():
    for state, age, silence, english, korean in STATES:
        now = clock.now()
        cluster = Cluster(name="night", backend="local", seen_at=now - timedelta(seconds=silence))
        text = state_text(Job(state=state, state_at=now - timedelta(seconds=age), cluster=cluster))
        with translation.override("ko"):
            assert (text, translated(text)) == (english, korean)


WHY = [
    ("en", "<strong>Ben</strong> can submit jobs in team Vision"),
    ("ko", "<strong>Ben</strong> 님: Vision 팀에서 작업 제출 가능"),
    (
        "ja",
        "<strong>Ben</strong> に許可されている操作: ジョブの投入（チーム Vision で）",
    ),
]


def test_permission_explanation_is_translated_in_word_order(story):
    body = {"user": "ben@atlas.example", "permission": "jobs:submit", "team": "vision"}
    for language, texts in WHY:
        page = story.client(story.ada).get(
            "/atlas/access", body, headers={"Accept-Language": language}
        )
        assert page.status_code == 200
        assert texts in page.content.decode(), language


def test_job_endings_are_translated():
    texts = [text for reason in Reason for text in (reason.headline, reason.advice) if text]
    for language in ("ko", "ja"):
        with translation.override(language):
            assert [text for text in texts if translated(text) == text] == [], language


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
            answer = caller.get(
                "/api/v1/orgs/atlas/jobs?state=none", headers={"Accept-Language": "ko"}
            )
            assert "“none” is not a state" in answer.json()["detail"]


AMOUNTS = [
    (amount_text("cpu", 400), "0.4 cores", "코어 0.4개", "0.4 コア"),
    (amount_text("gpu", 1), "1 GPU", "GPU 1개", "GPU 1 基"),
    (amount_text("gpu.h100", 8), "8 GPUs (H100)", "GPU 8개 (H100)", "GPU 8 基 (H100)"),
    (span_text(2940), "49 min", "49분", "49 分"),
    (amount_text("gpu-hours", 9_000_000), "2.5 GPU-hours", "GPU 2.5시간", "GPU 2.5 時間"),
    (amount_text("memory", 256 << 20), "256 MiB", "256 MiB", "256 MiB"),
    (
        classify(ProcessEnd(1, None, "step 40 loss 0.40")).evidence,
        "Exit code 1. step 40 loss 0.40",
        "종료 코드 1. step 40 loss 0.40",
        "終了コード 1。step 40 loss 0.40",
    ),
]


def test_amounts_durations_and_endings_are_translated():
    for text, english, *others in AMOUNTS:
        assert text == english
        for language, message in zip(("ko", "ja", "en"), (*others, english), strict=True):
            with translation.override(language):
                assert translated(text) == message, language
