"""deploy/nginx.conf in front of the components: TLS, host, client address and websocket."""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import re
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect

from tests.rig.environment import ROOT
from tests.rig.portal import EMAIL, Portal
from tests.rig.postgres import create_database
from tests.rig.processes import Folder, free_port, is_listening, wait_until
from tests.rig.redis import start_redis

pytestmark = pytest.mark.integration
NAME = "muster.example.com"


@dataclass
class Site:
    """A portal behind nginx; `token` is the administrator's."""

    port: int
    plain: int
    token: str
    home: Path

    @property
    def url(self) -> str:
        return f"https://{NAME}:{self.port}"

    def browser(self) -> httpx.Client:
        return httpx.Client(
            verify=False,
            base_url=f"https://127.0.0.1:{self.port}",
            headers={"Host": f"{NAME}:{self.port}"},
            timeout=60,
        )


def _certificate(folder: Folder) -> None:
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            f"/CN={NAME}",
            "-keyout",
            folder.path / "key.pem",
            "-out",
            folder.path / "cert.pem",
        ],
        check=True,
        capture_output=True,
    )


def _configuration(
    folder: Folder,
    home: Path,
    port: int,
    plain: int,
    web: int,
    live: int,
    uploads: int,
    gateway: int,
) -> str:
    """Return the shipped configuration with the ports and certificate of this test."""
    text = (ROOT / "deploy/nginx.conf").read_text()
    for old, new in (
        (":8001", f":{web}"),
        (":8002", f":{live}"),
        (":8003", f":{uploads}"),
        (":8004", f":{gateway}"),
        ("443 ssl", f"127.0.0.1:{port} ssl"),
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("/etc/ssl/certs/muster.pem", f"{folder.path}/cert.pem"),
        ("/etc/ssl/private/muster.key", f"{folder.path}/key.pem"),
        ("/opt/muster/deploy/nginx-server.conf", f"{ROOT}/deploy/nginx-server.conf"),
        ("/opt/muster/deploy/nginx-files.conf", f"{ROOT}/deploy/nginx-files.conf"),
        ("/opt/muster/deploy/nginx-apps.conf", f"{ROOT}/deploy/nginx-apps.conf"),
        ("/var/lib/muster", str(home)),
    ):
        assert old in text
        text = text.replace(old, new)
    user = f"user {pwd.getpwuid(0).pw_name};" if os.geteuid() == 0 else ""
    return (
        f"{user} pid {folder.path}/nginx.pid; error_log {folder.path}/nginx.error; daemon off; events "
        f"{{}} http {{ access_log off; {text} }}"
    )


@pytest.fixture(scope="module")
def site(request) -> Iterator[Site]:
    folder, (port, plain, web, live, uploads, gateway) = (
        Folder(),
        (free_port() for _ in range(6)),
    )
    database = create_database(request.getfixturevalue("postgres_url"), "behind_nginx")
    settings = {
        "MUSTER_BEHIND_PROXY": "1",
        "MUSTER_ACCEL": "1",
        "MUSTER_BASE_URL": f"https://{NAME}:{port}",
    }
    portal = Portal(folder, database, start_redis(folder).url, settings=settings, is_furnished=True)
    try:
        portal.start()
        token = portal.manage("create_token", EMAIL, "--org", "home", "--scopes", "all")
        portal.stop()
        for part, number in (
            ("web", web),
            ("live", live),
            ("uploads", uploads),
            ("gateway", gateway),
        ):
            argv = [
                sys.executable,
                str(ROOT / "manage.py"),
                "serve",
                "--only",
                part,
                "--host",
                "127.0.0.1",
                "--port",
                str(number),
            ]
            folder.start(part, argv, env=portal.environment)
            wait_until(lambda number=number: is_listening(number), f"{part} listens", 60)  # type: ignore[misc]
        _certificate(folder)
        (folder.path / "nginx.conf").write_text(
            _configuration(folder, portal.home, port, plain, web, live, uploads, gateway)
        )
        folder.start(
            "nginx",
            [shutil.which("nginx") or "/usr/sbin/nginx", "-c", str(folder.path / "nginx.conf")],
        )
        wait_until(lambda: is_listening(port), "nginx listens", 60)
        yield Site(port, plain, token, portal.home)
    finally:
        folder.close()


def test_nginx_sign_in_sets_secure_cookies(site):
    with site.browser() as browser:
        page = browser.get("/accounts/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        assert token and "secure" in page.headers["set-cookie"].lower()
        form = {
            "login": "ada@atlas.example",
            "password": "a long password for tests",
            "csrfmiddlewaretoken": token[1],
        }
        done = browser.post(
            "/accounts/login/",
            data=form,
            headers={"Referer": f"{site.url}/accounts/login/", "Origin": site.url},
        )
        assert done.status_code == 302 and all(
            "Secure" in cookie for cookie in done.headers.get_list("set-cookie")
        )
        assert browser.get("/home/").status_code == 200


@pytest.mark.parametrize("path", ["/", "/home/jobs?state=running", "/accounts/login/", "/apiary"])
def test_nginx_redirects_browsers_to_https(site, path):
    answer = httpx.get(f"http://127.0.0.1:{site.plain}{path}", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.headers["location"]) == (301, f"https://{NAME}{path}")


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/me",
        "/api",
        "/ws/live",
        "/scim/v2/okta/Users",
        "/metrics",
        "/identity/o/api/token",
        "/home/../api/v1/me",
    ],
)
@pytest.mark.parametrize("verb", ["GET", "POST"])
def test_nginx_refuses_api_requests_over_http(site, verb, path):
    answer = httpx.request(
        verb,
        f"http://127.0.0.1:{site.plain}{path}",
        headers={"Authorization": f"Bearer {site.token}"},
    )
    assert (
        answer.status_code == 403
        and "location" not in answer.headers
        and "https only" in answer.text
    )


def test_nginx_ignores_forged_forwarded_address(site):
    """Sign-in rate limits depend on the address that nginx saw."""
    with site.browser() as browser:
        token = re.search(
            r'name="csrfmiddlewaretoken" value="([^"]+)"', browser.get("/accounts/login/").text
        )
        assert token
        answers = [
            browser.post(
                "/accounts/login/",
                headers={"Origin": site.url, "X-Forwarded-For": f"10.0.0.{n}"},
                data={"login": "x@y.example", "password": "wrong", "csrfmiddlewaretoken": token[1]},
            )
            for n in range(10)
        ]
        assert "Wait five minutes" in answers[-1].text


def test_nginx_proxies_the_websocket(site):
    async def hello() -> dict[str, Any]:
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        async with connect(
            f"wss://{NAME}:{site.port}/ws/live",
            host="127.0.0.1",
            port=site.port,
            ssl=trusting,
            additional_headers={"Authorization": f"Bearer {site.token}"},
        ) as socket:
            return dict(json.loads(await socket.recv()))

    assert asyncio.run(hello())["op"] == "hello"


def test_nginx_sends_files_of_workspaces_and_follows_no_link(site):
    root = "/api/v1/orgs/home/workspaces"
    with site.browser() as api:
        api.headers["Authorization"] = f"Bearer {site.token}"
        assert api.post(root, json={"name": "code"}).status_code == 201
        put = api.put(f"{root}/code/files/a%20b/c.txt", content=b"hello" * 1000)
        assert put.is_success, put.text
        found = api.get(f"{root}/code/files/a%20b/c.txt", headers={"Range": "bytes=5-9"})
        assert (found.status_code, found.content) == (206, b"hello")
        assert "sandbox" in found.headers["content-security-policy"]
        assert "etag" in found.headers  # of nginx
        [place] = (site.home / "workspaces").glob("*/*/a b/c.txt")
        inside = place.relative_to(site.home / "workspaces")
        assert api.get(f"/_workspaces/{inside}").status_code == 404
        (place.parent / "link").symlink_to("/etc/passwd")
        assert api.get(f"{root}/code/files/a%20b/link").status_code == 404
