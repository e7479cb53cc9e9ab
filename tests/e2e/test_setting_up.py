"""Set up a new installation entirely in the browser, up to a working organization.

Covers a directory, teams, limits, sign-in by LDAP, OpenID Connect and SAML, a required second
factor, a token that is revoked during a stream, and the audit trail.
"""

from __future__ import annotations

import base64
import html
import os
import re
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

import oidc_provider_mock
import pytest
from allauth.mfa.totp.internal import auth as totp
from playwright.sync_api import Browser, Page, expect

from tests.look import wizard
from tests.look.conftest import accept_dialogs
from tests.rig import saml_idp
from tests.rig.environment import ROOT
from tests.rig.http_server import LoopbackServer
from tests.rig.portal import EMAIL, PASSWORD, Portal
from tests.rig.processes import Folder
from tests.rig.slapd import Slapd, group_dn, password_of, start_slapd

pytestmark = [pytest.mark.browser, pytest.mark.integration]
OPTIONS = ("url", "people_base", "group_base", "bind_dn", "bind_password", "ca")


class IdP(BaseHTTPRequestHandler):
    """A SAML identity provider with one page, which signs everyone in as Gus."""

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        request_xml = zlib.decompress(base64.b64decode(query["SAMLRequest"][0]), -15).decode()
        acs, us, number = (
            re.findall(pattern, request_xml)[0]
            for pattern in (
                r'AssertionConsumerServiceURL="([^"]+)"',
                r"Issuer[^>]*>([^<]+)<",
                r'ID="([^"]+)"',
            )
        )
        says = (
            saml_idp.attribute("email", "gus@saml.example")
            + saml_idp.attribute("groups", "people")
            + saml_idp.attribute("displayName", "Gus")
        )
        known = saml_idp.facts(acs, us, number, nameid="gus-1", attributes=says)
        answer = saml_idp.posted(
            saml_idp.response(known, saml_idp.signed(saml_idp.assertion(known)))
        )
        state = html.escape(query.get("RelayState", [""])[0])
        hidden = "".join(
            f'<input type="hidden" name="{name}" value="{value}">'
            for name, value in (("SAMLResponse", answer), ("RelayState", state))
        )
        page = (
            '<!doctype html><link rel="icon" href="data:,"><form method="post" '
            f'action="{acs}">{hidden}<button>I am Gus</button></form>'
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def portal() -> Iterator[Portal]:
    folder = Folder()
    made = Portal(folder)
    made.start()
    yield made
    made.stop()
    folder.close()


@pytest.fixture(scope="module")
def slapd() -> Iterator[Slapd]:
    folder = Folder()
    yield start_slapd(folder)
    folder.close()


@pytest.fixture(scope="module")
def openid() -> Iterator[str]:
    user = oidc_provider_mock.User(
        sub="eve-1", claims={"email": "eve@oidc.example", "name": "Eve", "groups": ["people"]}
    )
    with oidc_provider_mock.run_server_in_thread(user_claims=[user], require_nonce=True) as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture(scope="module")
def saml() -> Iterator[str]:
    with LoopbackServer(IdP) as server:
        yield saml_idp.metadata().replace(
            "https://idp.example/sso", f"http://localhost:{server.server_port}/sso"
        )


@pytest.fixture
def somebody(browser: Browser) -> Iterator[Callable[[], Page]]:
    """Return a page of a new browser."""
    contexts = []

    def come() -> Page:
        contexts.append(browser.new_context())
        return contexts[-1].new_page()

    yield come
    for context in contexts:
        context.close()


def sign_in(page: Page, portal: Portal, name: str, password: str, path: str = "/") -> None:
    page.goto(f"{portal.url}/accounts/login/?next={path}")
    page.fill("[name=login]", name)
    if not page.locator("[name=password]").count():
        page.click("button[type=submit]")
    page.fill("[name=password]", password)
    page.locator("form:has([name=password]) button[type=submit]").click()


def found_organization(page: Page, portal: Portal, slug: str) -> None:
    page.goto(f"{portal.url}/platform/organizations?dialog=new-organization")
    for name, value in (("name", slug.title()), ("slug", slug), ("email", EMAIL)):
        page.fill(f"form:has([name=slug]) [name={name}]", value)
    page.click("form:has([name=slug]) button.primary")
    expect(page.locator("tbody")).to_contain_text(slug.title())
    page.goto(f"{portal.url}/{slug}/teams")
    page.click("[data-opens-dialog=new-team]")
    page.fill("[name=slug]", "vision")
    page.click("text=Create team")
    expect(page.get_by_text("Team vision created")).to_be_visible()


def connect(
    page: Page,
    portal: Portal,
    org: str,
    kind: str,
    options: dict[str, str],
    ticked: tuple[str, ...] = (),
) -> None:
    """Connect a directory or sign-in service with its form."""
    page.goto(f"{portal.url}/{org}/directories/-/connect?kind={kind}")
    connection = page.locator("[data-step=connection]")
    here = {n for n in (*options, *ticked) if connection.locator(f"[name={n}]").count()}
    wizard.fill(page, {n: v for n, v in options.items() if n in here}, set(ticked) & here)
    wizard.fill(page, {n: v for n, v in options.items() if n not in here}, set(ticked) - here)
    wizard.finish(page)
    page.wait_for_url(re.compile(f"/{org}/directories/{options['slug']}"))


def rule(page: Page, *given: tuple[str, str]) -> None:
    """Set the roles that its groups give."""
    for nth, (group, place) in enumerate(given):
        page.locator("[name=group]").nth(nth).fill(group)
        page.locator("[name=place]").nth(nth).select_option(place)
    page.click("text=Save rules")


def people_come_by_ldap(page: Page, portal: Portal, slapd: Slapd, ada: Page) -> None:
    options = {name: str(slapd.options()[name]) for name in OPTIONS}
    connect(
        page,
        portal,
        "home",
        "ldap",
        {"slug": "corp", "title": "Corp", **options},
        ("wide", "is_private"),
    )
    rule(page, (group_dn("staff"), "atlas"), (group_dn("research"), "atlas/vision"))
    page.click("text=Dry run")
    page.click("text=Sync now")
    page.wait_for_selector("text=Last sync")
    sign_in(ada, portal, "ada", password_of("ada"), "/atlas/teams")
    ada.wait_for_url(f"{portal.url}/atlas/teams")


def limit_a_team(page: Page, portal: Portal) -> None:
    page.goto(f"{portal.url}/atlas/quotas")
    page.check("[name=who][value='team:vision']")
    page.click("[data-opens-dialog=edit-limits]")
    page.locator("#edit-limits tr:has([value=cpu]) [name=limit]").fill("2")
    page.click("#edit-limits button.primary")
    expect(page.locator("#preview")).to_contain_text("nothing has been saved yet")
    page.click("text=Save limits")
    expect(page.get_by_text("No limits yet")).to_have_count(0)


def somebody_comes_by_openid(page: Page, portal: Portal, issuer: str, eve: Page) -> None:
    options = {
        "slug": "openid",
        "title": "OpenID",
        "domains": "oidc.example",
        "issuer": issuer,
        "client_id": "muster",
        "client_secret": "s3cret",
    }
    connect(page, portal, "borealis", "oidc", options, ("is_private",))
    rule(page, ("people", "borealis"))
    eve.goto(f"{portal.url}/accounts/sso/openid/?next=/borealis/")
    eve.click("text=Continue with OpenID")
    eve.locator("button[name=sub][value=eve-1]").first.click()
    eve.wait_for_url(re.compile(f"{portal.url}/borealis/"))


def somebody_comes_by_saml(page: Page, portal: Portal, metadata: str, gus: Page) -> None:
    connect(
        page,
        portal,
        "borealis",
        "saml",
        {"slug": "saml", "title": "Shibboleth", "domains": "saml.example", "metadata": metadata},
    )
    rule(page, ("people", "borealis/vision"))
    gus.goto(f"{portal.url}/accounts/sso/saml/?next=/borealis/")
    gus.click("text=Continue with Shibboleth")
    gus.click("text=I am Gus")
    gus.wait_for_url(re.compile(f"{portal.url}/borealis/"))


def require_a_second_factor(page: Page, portal: Portal) -> None:
    """Sign in with the user's own account first."""
    page.goto(f"{portal.url}/accounts/2fa/totp/activate/")
    page.fill("[name=password]", PASSWORD)
    page.locator("form:has([name=password]) button[type=submit]").click()
    page.locator("summary", has_text="scan the code").click()
    key = page.locator("#authenticator_secret").inner_text()
    page.fill("[name=code]", totp.format_hotp_value(totp.hotp_value(key, int(time.time()) // 30)))
    page.click("text=Turn on")
    page.wait_for_url(re.compile("recovery-codes"))
    page.goto(f"{portal.url}/atlas/people")
    page.click("text=Require for everyone")
    page.wait_for_selector("text=Required for everyone")


def make_a_token(page: Page, portal: Portal) -> str:
    """Create a token of a service account in the team."""
    page.goto(f"{portal.url}/atlas/service-accounts")
    page.click("[data-opens-dialog=new-account]")
    page.fill("dialog [name=name]", "nightly")
    page.click("dialog button.primary")
    address = page.locator("p.sub").inner_text()
    page.goto(f"{portal.url}/atlas/teams/vision")
    page.click("[data-opens-dialog=add-member]")
    page.fill("[name=email]", address)
    page.click("#add-member button.primary")
    page.goto(f"{portal.url}/atlas/service-accounts/nightly")
    page.fill("form:has([name=days]) [name=name]", "builds")
    page.click("text=Create token")
    return page.locator(".note.good pre").first.inner_text()


def stream(portal: Portal, token: str, config: str) -> subprocess.Popen[str]:
    """Start a command that follows a job; return after its first lines."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MUSTER_")}
    ours = {
        "PYTHONPATH": str(ROOT / "client"),
        "MUSTER_URL": portal.url,
        "MUSTER_TOKEN": token,
        "MUSTER_CONFIG": config,
    }
    argv = [
        "run",
        "--cpus",
        "0.1",
        "--memory",
        "64Mi",
        "--team",
        "vision",
        "--",
        "for i in $(seq 600); do echo line $i; sleep 0.2; done",
    ]
    command = subprocess.Popen(
        [sys.executable, "-m", "muster", *argv],
        env=plain | ours,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert command.stdout is not None
    assert any(line.startswith("line 5") for line in command.stdout)
    return command


def revoke_the_token(page: Page, portal: Portal) -> None:
    page.goto(f"{portal.url}/atlas/service-accounts/nightly")
    page.locator("tr", has_text="builds").get_by_role("button", name="Revoke").click()
    page.wait_for_load_state()


def test_new_installation_is_set_up_entirely_in_the_browser(
    portal, slapd, openid, saml, page, somebody, tmp_path
):
    accept_dialogs(page)
    sign_in(page, portal, EMAIL, PASSWORD, "/home/guide")
    expect(page.get_by_role("heading", name="Setup guide")).to_be_visible()
    for slug in ("atlas", "borealis"):
        found_organization(page, portal, slug)
    ada = somebody()
    people_come_by_ldap(page, portal, slapd, ada)
    limit_a_team(page, portal)
    somebody_comes_by_openid(page, portal, openid, somebody())
    somebody_comes_by_saml(page, portal, saml, somebody())
    require_a_second_factor(page, portal)
    ada.goto(f"{portal.url}/atlas/teams")
    ada.wait_for_url(re.compile("/accounts/2fa/"))

    command = stream(portal, make_a_token(page, portal), str(tmp_path / "config.toml"))
    revoke_the_token(page, portal)
    began = time.monotonic()
    _, output = command.communicate(timeout=90)
    assert command.returncode == 4 and "revoked" in output, (command.returncode, output)
    assert (
        time.monotonic() - began < 30
    )  # refused within 5 s (tests/monitoring/live); the rest is the command's own time

    received: set[str] = set()
    for path in ("/atlas/audit", "/borealis/audit", "/platform/audit"):
        page.goto(f"{portal.url}{path}")
        received |= set(page.locator("table.audit td.mono.nowrap").all_inner_texts())
    assert received >= {
        "org.created",
        "team.created",
        "provider.created",
        "quota.changed",
        "org.second_factor_required",
        "service_account.created",
        "token.created",
        "token.revoked",
        "job.submitted",
        "member.added",
    }, sorted(received)
