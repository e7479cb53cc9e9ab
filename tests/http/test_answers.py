"""Every response to everybody has its security headers, and no page has inline code."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client

from clusters.backends import ensure_first_cluster
from jobs.services import submit_job
from portal.core.protocols import protocols
from schedulers.spec import parse_mapping
from tests.http.table import PAGE_READS, READS, browser
from tests.rig.environment import ROOT
from tests.rig.openapi import Truth
from tests.rig.seeds import WALKS, choose, is_chosen
from tests.story import PASSWORD
from workspaces.tenancy.scope import org_scope

POLICY = {
    "default-src": "'self'",
    "script-src": "'self'",
    "style-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "connect-src": "'self'",
}
LINKS, ELSEWHERE = (
    {"href", "src", "action", "formaction"},
    ("javascript:", "data:text", "//", "http:"),
)
TELLS = ("Server", "X-Powered-By", "X-AspNet-Version")
HOSTILE_HOSTS = [
    "evil.example",
    "evil.example:80",
    "testserver.evil.example",
    "testserver@evil.example",
    "a b",
    "[::1",
    "x" * 5000,
    "testserver:x",
    "testserver,evil.example",
    "\x7f",
    "münchen",
]
ODD_HEADERS = {
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-For": "10.0.0.1",
    "Forwarded": "for=10.0.0.1;host=evil.example",
    "X-Original-URL": "/atlas/settings/",
    "X-Rewrite-URL": "/atlas/settings/",
    "X-HTTP-Method-Override": "DELETE",
    "X-Real-IP": "10.0.0.1",
    "X-Muster-Client": "10.0.0.1",
    "Accept": "\x00/*;q=x",
    "Accept-Language": "x" * 3000,
    "Accept-Encoding": ",,,;q=9",
    "Range": "bytes=9-1,-",
    "If-None-Match": '"' * 999,
    "If-Modified-Since": "yesterday",
    "Content-Length": "-1",
    "Cookie": "=;;\x01;sessionid=../../etc",
    "Referer": "javascript:alert(1)",
    "User-Agent": "<script>evil()</script>",
    "X-Request-ID": "<script>evil()</script>",
}
WRITE = re.compile(r"\b(INSERT|UPDATE|DELETE)\s+(?:INTO\s+|FROM\s+)?\"?(\w+)\"?", re.IGNORECASE)
# Preferences have the language and the time zone of the browser, until the person chooses.
BOOKS = {"django_session", "workspaces_signin", "core_event", "notifications_preference"}
SOME = [
    "/",
    "/accounts/login/",
    "/atlas/",
    "/borealis/jobs/",
    "/api/v1/orgs/borealis/jobs",
    "/api/v1/orgs/atlas/jobs",
    "/no/such/page",
]


@contextmanager
def writes():
    """Return the writes to the database inside the block as (verb, table)."""
    found = []

    def look(execute, sql, params, many, context):
        found.extend(WRITE.findall(sql))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(look):
        yield found


def read(client, path):
    with writes() as written:
        answer = client.get(path)
    answer.written = {(verb.upper(), table) for verb, table in written if table not in BOOKS}
    return answer


@pytest.fixture(scope="module", params=[False, pytest.param(True, marks=pytest.mark.integration)])
def answers(request, browsers, shared_story):
    """Return the responses of every route to each reader, and to an operator for other verbs.

    There is a job to show. In the gate, the operator reads all routes, one of the others half of
    them, and a quarter are asked with another verb.
    """
    ensure_first_cluster()
    with org_scope(shared_story.atlas.id):
        submit_job(
            actor=shared_story.actor(shared_story.ben),
            team=shared_story.vision,
            spec=parse_mapping({"run": "true", "name": "first"}),
        )
    found = {}
    is_whole, others = request.param, browsers.keys() - {"dot"}
    for path in READS:
        some = choose(others, path) if is_chosen("reader", path, one_in=2) else []
        readers = ["dot", *(others if is_whole else some)]
        found[path] = {f"GET by {who}": read(browsers[who], path) for who in readers}
        has_verb = is_whole or is_chosen("verb", path, one_in=4)
        for verb in choose(("DELETE", "FOO"), path) if has_verb else ():
            with transaction.atomic():
                found[path][f"{verb} by dot"] = browsers["dot"].generic(verb, path)
                transaction.set_rollback(True)
    return found


def missing(answer) -> list[str]:
    """Return the headers that a response lacks, or has in excess."""
    given = answer.headers.get("Content-Security-Policy", "")
    policy = dict(part.strip().partition(" ")[::2] for part in given.split(";") if part.strip())
    found = [
        f"{name} {policy.get(name)}" for name, value in POLICY.items() if policy.get(name) != value
    ]
    found += ["unsafe"] if "unsafe" in given else []
    wanted = {
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
    }
    found += [name for name, value in wanted.items() if answer.headers.get(name) != value]
    found += [] if answer.headers.get("X-Frame-Options") == "DENY" else ["X-Frame-Options"]
    return found + [name for name in TELLS if name in answer.headers]


def test_get_requests_change_nothing(answers):
    """Except for records of reading itself: last use, exports of the audit trail, and denials."""
    found = {
        (path, how): answer.written
        for path, given in answers.items()
        for how, answer in given.items()
        if getattr(answer, "written", None)
    }
    assert found == {}
    ok = [path for path, given in answers.items() if given["GET by dot"].status_code == 200]
    assert len(ok) > 80 and "/atlas/jobs/1" in ok


def test_answers_of_the_api_are_as_its_schema_declares(answers):
    truth = Truth(Client().get("/api/schema/", {"format": "json"}).json())
    wrong, lists = set(), set()
    for path, given in answers.items():
        declared = truth.path_of(path) if path.startswith("/api/v1/") else None
        for how, answer in given.items() if declared else ():
            if untruth := truth.untruth(declared, how.partition(" ")[0], answer):
                wrong.add(f"{declared}: {untruth}")
            if answer.status_code == 200 and truth.is_page(declared):
                lists.add(declared)
    assert sorted(wrong) == []
    assert len(lists) >= 30


def test_downloads_have_a_filename_set_by_the_portal(answers, browsers):
    named = {
        answer.headers.get("Content-Disposition")
        for given in answers.values()
        for answer in given.values()
    } - {None}
    assert len(named) >= 3
    assert [
        name
        for name in named
        if not re.fullmatch(
            r'(attachment|inline); filename="[A-Za-z0-9-]+\.(log|jsonl|csv|json|yaml)"', name
        )
    ] == []
    for path in ("/api/v1/orgs/atlas/audit/export", "/api/v1/orgs/atlas/jobs/1/logs/download"):
        answer = browsers["dot"].get(
            path,
            {"format": '../x"; filename="evil.exe', "filename": "evil.exe", "name": "evil.exe"},
        )
        assert "evil" not in answer.get("Content-Disposition", "")


HIDDEN = [
    "/.git/config",
    "/.git/HEAD",
    "/static/.git/config",
    "/static/../.git/HEAD",
    "/static/%2e%2e/.git/HEAD",
    "/.env",
    "/manage.py",
    "/pyproject.toml",
    "/static/../manage.py",
    "/static/%2e%2e%2fmanage.py",
    "/docker-compose.yml",
    "/static/",
    "/static",
    "/static/css/",
]


def test_installation_files_and_folder_lists_are_not_served(browsers):
    for path, who in itertools.product(HIDDEN, ("nobody", "dot")):
        answer = browsers[who].get(path, follow=True)
        assert answer.status_code == 404 or answer.request["PATH_INFO"].startswith(
            "/accounts/login/"
        ), (path, who)
    assert ".git" in (ROOT / ".dockerignore").read_text().split()


def test_write_detector_notices_a_write(browsers, undone, shared_story):
    with writes() as found:
        browsers["ben"].post("/accounts/logout/")
        shared_story.ada.save()
    assert {table for _, table in found} >= {"workspaces_user", "django_session"}


def each(answers) -> Iterator[tuple[str, HttpResponse]]:
    """Yield every response with its request."""
    return (
        (f"{path}: {how}", answer)
        for path, given in answers.items()
        for how, answer in given.items()
    )


def test_every_response_has_security_headers(answers):
    assert {how: missing(answer) for how, answer in each(answers) if missing(answer)} == {}
    assert [
        how
        for how, answer in each(answers)
        if answer.status_code >= 500 and not how.startswith("/readyz:")
    ] == []


def test_error_responses_have_security_headers(db, monkeypatch):
    monkeypatch.setattr(settings, "ROOT_URLCONF", "tests.http.broken")
    broken = browser().get("/broken/")
    assert broken.status_code == 500
    assert missing(broken) == []
    assert b"a secret in the exception" not in broken.content
    refused = browser().get("/", headers={"Host": "evil.example"})
    assert refused.status_code == 400
    assert missing(refused) == []


def test_unknown_host_is_refused_and_not_echoed(browsers):
    paths = (
        "/",
        "/accounts/login/",
        "/accounts/password/reset/",
        "/atlas/",
        "/api/v1/orgs/atlas/jobs",
    )
    for host, path in itertools.product(HOSTILE_HOSTS, paths):
        answer = browsers["ben"].get(path, HTTP_HOST=host)
        assert answer.status_code == 400, (host, path)
        assert host.encode() not in answer.content + str(answer.headers).encode(), (host, path)
        if path.startswith("/api/"):
            assert answer.json()["code"] == "unknown_host", host


def test_refusals_before_a_view_are_in_the_form_of_their_protocol(browsers):
    """Paths of programs are never answered with a page, whatever is wrong with the request."""
    wrong = []
    for protocol in protocols():
        if protocol.error_body is None:
            continue
        for path in (protocol.prefix, protocol.prefix + "a/b/c/d"):
            for method, query, headers in (
                ("GET", "", {"HTTP_HOST": "evil.example"}),
                ("GET", "?q=%00", {}),
                ("FROB", "", {}),
                ("TRACE", "", {}),
                ("POST", "", {"CONTENT_TYPE": "multipart/form-data; boundary=x"}),
                ("GET", "?" + "&".join(f"a{n}" for n in range(2000)), {}),
            ):
                answer = browsers["ben"].generic(method, path + query, b"--y", **headers)
                kind = answer.headers.get("Content-Type", "").partition(";")[0]
                is_error = answer.status_code >= 400
                if is_error and (kind == "text/html" or not answer.content):
                    wrong.append((method, path + query[:9], answer.status_code, kind))
    assert not wrong


def test_method_that_a_hub_view_does_not_have_is_refused_in_its_form(shared_story):
    answer = shared_story.api(shared_story.ben).put("/hf/api/datasets/atlas/nowhere")
    assert (answer.status_code, "not allowed" in answer.json()["error"]) == (405, True)
    assert answer.headers["Allow"]


@WALKS
def test_odd_header_changes_neither_actor_nor_response(browsers, is_whole):
    client, wrong = browsers["cyd"], []
    for path in SOME:
        plain = client.get(path)
        for name, value in ODD_HEADERS.items():
            if not is_whole and not is_chosen(path, name, one_in=3):
                continue
            odd = client.get(path, headers={name: value})
            is_answered_so = (
                odd.status_code == plain.status_code
                or name == "Cookie"
                or odd.status_code in {400, 406}
            )
            if not is_answered_so or b"evil" in odd.content + str(odd.headers).encode():
                wrong.append(f"{path} with {name}: {odd.status_code}")
    assert wrong == []


@WALKS
def test_odd_headers_together_cause_no_500_and_are_not_echoed(browsers, is_whole):
    headers = {name: value for name, value in ODD_HEADERS.items() if name != "Cookie"}
    wrong = []
    for path in READS:
        if not is_whole and not is_chosen(path, one_in=4):
            continue
        answer = browsers["dot"].get(path, headers=headers)
        if (answer.status_code >= 500 and path != "/readyz") or b"evil" in full_content(
            answer
        ) + str(answer.headers).encode():
            wrong.append(f"{path}: {answer.status_code}")
    assert wrong == []


def full_content(answer) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


class Page(HTMLParser):
    """Collects what the content security policy would block."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if (
            tag == "script"
            and "src" not in given
            and given.get("type") not in {"application/json", "text/template"}
        ):
            self.found.append("an inline script")
        if tag == "style" or "style" in given:
            self.found.append(f"a style in <{tag}>")
        self.found += [f"{name} of <{tag}>" for name in given if name.startswith("on")]
        self.found += [
            f"{name} of <{tag}>"
            for name, value in attrs
            if name in LINKS and (value or "").lower().lstrip().startswith(ELSEWHERE)
        ]
        if (
            tag == "a"
            and given.get("target") == "_blank"
            and "noopener" not in (given.get("rel") or "")
        ):
            self.found.append("a link into a new window that may reach back")


def test_pages_have_no_inline_script_style_or_handler(answers):
    pages = {
        how: answer.content.decode()
        for how, answer in each({path: answers[path] for path in PAGE_READS})
        if answer.headers.get("Content-Type", "").startswith("text/html")
    }
    assert len(pages) > 100
    assert {how: Page(page).found for how, page in pages.items() if Page(page).found} == {}


def test_page_check_detects_violations():
    bad = (
        '<script>x</script><p style="a" onclick="b"><a href=" JavaScript:c" '
        'target="_blank">d</a><style>e</style>'
        '<script src="http://elsewhere/x.js"></script>'
    )
    assert len(Page(bad).found) == 7


def test_responses_with_body_have_content_type_and_charset(answers):
    for how, answer in each(answers):
        given = answer.headers.get("Content-Type", "")
        assert given or not answer.content, how
        assert not given.startswith("text/") or "charset=utf-8" in given.lower(), (how, given)


def test_personal_responses_are_not_cacheable(answers):
    assert [
        how
        for how, answer in each(answers)
        if "no-store" not in answer.headers.get("Cache-Control", "")
    ] == []


def test_cookies_have_restrictive_attributes(story):
    client = browser()
    client.get("/accounts/login/")
    client.post("/accounts/login/", {"login": "ada@atlas.example", "password": PASSWORD})
    session, form = (
        client.cookies[settings.SESSION_COOKIE_NAME],
        client.cookies[settings.CSRF_COOKIE_NAME],
    )
    assert (session["samesite"], session["httponly"], session["path"], session["domain"]) == (
        "Lax",
        True,
        "/",
        "",
    )
    assert (form["samesite"], form["domain"]) == ("Lax", "")


def test_cors_allows_no_other_origin(browsers, undone):
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    for verb, path in itertools.product(("GET", "OPTIONS", "POST"), SOME):
        request = browsers["dot"].generic(verb, path, headers=headers)
        assert [
            name for name in request.headers if name.lower().startswith("access-control-")
        ] == [], (verb, path)


def test_trace_method_is_refused(browsers):
    for path in SOME:
        answer = browsers["dot"].generic("TRACE", path, headers={"X-Canary": "canary"})
        assert answer.status_code in {301, 302, 400, 403, 404, 405}, path
        assert b"canary" not in answer.content, path


def test_signed_in_pages_have_a_sign_out_button(answers):
    given = {path: answers[path]["GET by dot"] for path in PAGE_READS if path.startswith("/atlas/")}
    pages = {
        path: answer
        for path, answer in given.items()
        if answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/html")
    }
    assert len(pages) > 20
    assert [
        path for path, answer in pages.items() if b"/accounts/logout/" not in answer.content
    ] == []
