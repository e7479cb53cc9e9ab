"""The house rules of security that a machine can read. `ruff S` (bandit's rules) runs in `make check`; these know the house: by which
few doors a statement in SQL, markup, a connection or chance may come in. A list may shrink; who adds to one is looked at."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.rig.environment import ROOT
from tests.test_house import shown, sources

OURS = ("portal", "workspaces", "clusters", "jobs", "monitoring")
SQL_BY_HAND = {
    "portal/series/store.py", "portal/process/prepare.py", "portal/core/postgres/base.py", "portal/core/postgres/wall.py",
    "portal/core/audit/sealing.py", "portal/core/audit/verify.py", "portal/core/bulk.py", "portal/core/reading.py", "workspaces/tenancy/rows.py",
    "workspaces/services/quota.py", "workspaces/services/gpu_hours.py",
    "jobs/services/accept.py", "jobs/services/look.py", "jobs/rows.py", "monitoring/health.py",
    "portal/core/redis_bus.py"}                 # a pipeline of Redis is executed too
CONNECTS = {
    "portal/core/outbound.py", "portal/core/addresses.py",     # the client that goes where people point it, and what it may reach
    "portal/core/audit/targets.py",                            # syslog and webhooks, to addresses that `outbound` allowed
    "portal/process/stack.py", "portal/process/prepare.py", "portal/process/embedded.py", "portal/process/parts.py",   # our own listening sockets
    "workspaces/sso/ldap/line.py", "workspaces/sso/oidc/protocol.py", "jobs/images/wire.py", "jobs/backends/kubernetes_parts/wire.py",
    "jobs/backends/kubernetes_parts/access.py", "jobs/backends/slurm_parts/rest.py",     # what an operator connected
    "portal/core/holders.py"}                                                              # this machine's name
CHANCE = {"portal/core/audit/forwarding.py"}    # jitter
MARKUP = {"workspaces/templatetags/muster.py"}  # format_html, which escapes
EXEMPT = {"workspaces/sso/views.py", "workspaces/scim/views.py"}     # SAML's replies come from the provider's page; SCIM by token alone
CLIENTS = {"httpx", "requests", "urllib.request", "http.client", "socket", "ssl", "urllib3", "aiohttp", "ftplib", "telnetlib", "smtplib"}
LOOSE = {"pickle", "marshal", "shelve", "dill", "xml.etree.ElementTree", "xml.dom.minidom", "xml.sax", "telnetlib", "imp"}

SECRET = re.compile(r"(^|_)(password|signature|hmac|otp|mac)$")
ASSIGNED = r"innerHTML\s*\+?=(?!\s*(?:\"[^\"]*\"|'[^']*')\s*;)"
Rule = Callable[[ast.AST], bool]


def called(node: ast.AST) -> str:
    """The last name of what is called: `cursor.execute(…)` is `execute`."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""


def imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom) and not node.level:
        return {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return set()


def connects(node: ast.AST) -> bool:
    """Errors may be imported by everybody."""
    is_error = isinstance(node, ast.ImportFrom) and all(alias.name.endswith(("Error", "Exception")) for alias in node.names)
    return bool(imported(node) & CLIENTS) and not is_error


def keyword(node: ast.AST, name: str) -> ast.expr | None:
    return next((word.value for word in node.keywords if word.arg == name), None) if isinstance(node, ast.Call) else None


def is_off(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def compares_a_secret(node: ast.AST) -> bool:
    """`digest == given` tells by its time how much was right; `hmac.compare_digest` does not."""
    if not isinstance(node, ast.Compare) or not all(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
        return False
    sides = [node.left, *node.comparators]
    names = [side.attr if isinstance(side, ast.Attribute) else side.id if isinstance(side, ast.Name) else "" for side in sides]
    return not any(isinstance(side, ast.Constant) for side in sides) and any(SECRET.search(name) for name in names)


def has_no_reason(node: ast.AST) -> bool:
    """A reason that can be searched for: a text, or a constant of the module."""
    if called(node) != "platform_scope" or not isinstance(node, ast.Call):
        return False
    told = node.args[0] if node.args else None
    return not (isinstance(told, ast.Constant) and len(str(told.value)) > 3) and not (isinstance(told, ast.Name) and told.id.isupper())


RULES: dict[str, tuple[Rule, set[str]]] = {
    "SQL is written by hand in few places": (lambda n: called(n) in {"execute", "executemany", "copy_expert"}, SQL_BY_HAND),
    "no ORM call takes SQL": (lambda n: called(n) in {"raw", "extra", "RawSQL"}, set()),
    "markup is made by templates": (lambda n: called(n) in {"mark_safe", "SafeString", "SafeText", "format_html", "format_html_join"}, MARKUP),
    "few modules open connections": (connects, CONNECTS),
    "chance that must not be guessed comes from secrets": (lambda n: "random" in imported(n), CHANCE),
    "nothing loads code from data": (lambda n: bool(imported(n) & LOOSE) or (isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
                                     and n.func.id in {"eval", "exec", "compile", "__import__"}), set()),
    "YAML is loaded safely": (lambda n: called(n) in {"unsafe_load", "full_load", "UnsafeLoader", "FullLoader"}, set()),
    "certificates are checked": (lambda n: is_off(keyword(n, "verify")) or called(n) == "_create_unverified_context"
                                 or (isinstance(n, ast.Attribute) and n.attr == "CERT_NONE"), set()),
    "no view is exempt from CSRF or framing": (lambda n: bool(imported(n) & {"django.views.decorators.csrf.csrf_exempt",
                                               "django.views.decorators.clickjacking.xframe_options_exempt"}), EXEMPT),
    "no shell": (lambda n: (isinstance(w := keyword(n, "shell"), ast.Constant) and w.value is True) or called(n) in {"popen", "getoutput"}, set()),
    "secrets are compared in constant time": (compares_a_secret, set()),
    "work across organizations says why": (has_no_reason, set()),
    "no row-level security is opened but for migrations": (lambda n: called(n) == "open_wall", {"workspaces/tenancy/rows.py"}),
}


def found_by(rule: Rule) -> Iterator[tuple[str, int]]:
    for path in sources(*OURS):
        for node in ast.walk(ast.parse(path.read_text())):
            if rule(node):
                yield shown(path), getattr(node, "lineno", 0)


@pytest.mark.parametrize("name", RULES)
def test_the_house_rule_holds(name):
    rule, allowed = RULES[name]
    assert [f"{path}:{line}" for path, line in found_by(rule) if path not in allowed] == []


BAD = {
    "SQL is written by hand in few places": "cursor.execute('SELECT 1')",
    "no ORM call takes SQL": "Team.objects.raw('SELECT 1')",
    "markup is made by templates": "mark_safe(text)",
    "few modules open connections": "from urllib.request import urlopen",
    "chance that must not be guessed comes from secrets": "import random",
    "nothing loads code from data": "import pickle",
    "YAML is loaded safely": "yaml.unsafe_load(text)",
    "certificates are checked": "client.get(url, verify=False)",
    "no view is exempt from CSRF or framing": "from django.views.decorators.csrf import csrf_exempt",
    "no shell": "run('ls', shell=True)",
    "secrets are compared in constant time": "if given == expected.signature: pass",
    "work across organizations says why": "with platform_scope(why): pass",
    "no row-level security is opened but for migrations": "connection.open_wall()",
}


@pytest.mark.parametrize("name", RULES)
def test_each_rule_finds_what_it_forbids(name):
    assert any(RULES[name][0](node) for node in ast.walk(ast.parse(BAD[name])))


def test_no_list_of_exceptions_names_a_file_that_is_gone():
    allowed = set().union(*(files for _, files in RULES.values()))
    assert [name for name in sorted(allowed) if not (ROOT / name).exists()] == []


def texts(*patterns: str) -> Iterator[Path]:
    for pattern in patterns:
        yield from (path for path in ROOT.glob(pattern) if "vendor" not in path.parts and "node_modules" not in path.parts)


def test_no_template_turns_escaping_off_but_for_plain_mail():
    risky = re.compile(r"\|\s*safe\b|\|\s*safeseq\b|autoescape off")
    found = [shown(path) for path in texts("templates/**/*.html", "templates/**/*.txt") if risky.search(path.read_text())]
    assert [name for name in found if not name.endswith(".txt")] == []


def test_no_script_of_ours_makes_markup_or_code_of_text():
    """`innerHTML` takes one literal without a gap in it, nothing else."""
    risky = re.compile(rf"outerHTML\s*=|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|{ASSIGNED}")
    paths = list(texts("static/js/**/*.js"))
    assert len(paths) > 10
    assert [shown(path) for path in paths if risky.search(path.read_text())] == []
