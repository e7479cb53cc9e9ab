"""Check security rules of this code base that linters do not know.

`ruff S` (bandit) runs in `make check`. These rules limit where SQL, markup, connections and
randomness may be used. Lists of exceptions may shrink; additions need a review.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

from tests.rig.environment import ROOT
from tests.rig.packages import PACKAGES
from tests.test_repository import shown, sources

SQL_BY_HAND = {
    "portal/series/store.py",
    "portal/series/batches.py",
    "portal/process/prepare.py",
    "portal/process/schema.py",
    "portal/core/postgres/base.py",
    "portal/core/postgres/row_security.py",
    "portal/core/audit/sealing.py",
    "portal/core/audit/verify.py",
    "portal/core/settled.py",
    "portal/core/bulk.py",
    "portal/core/joined_select.py",
    "portal/core/row_locks.py",
    "workspaces/tenancy/row_security.py",
    "workspaces/quotas/reservations.py",
    "workspaces/quotas/gpu_hour_counting.py",
    "jobs/services/accept.py",
    "jobs/services/fast_path.py",
    "portal/core/bulk_updates.py",
    "jobs/dispatch/watch/attempts.py",
    "monitoring/health.py",
    "portal/core/redis_bus.py",
}  # Redis pipelines are executed as well
CONNECTS = {
    "portal/core/outbound.py",
    "portal/core/outbound_proxy.py",
    "datasets/imports/http.py",  # its exceptions; it asks by portal.core.outbound
    # The client for user-supplied URLs, and the addresses that it may reach.
    "portal/core/addresses.py",
    # Syslog and webhooks, to addresses that `outbound` allowed.
    "portal/core/audit/targets.py",
    # The errors of `outbound` and of the mail server.
    "notifications/channels/posting.py",
    "notifications/services/sending.py",
    "portal/process/stack.py",
    "portal/process/prepare.py",
    "portal/process/embedded.py",
    "portal/process/parts.py",  # our own listening sockets
    "portal/process/sockets.py",
    # The gateway: its own sockets, and ports of jobs where a backend says they are.
    "portal/gateway/answers.py",
    "portal/gateway/channels.py",
    "portal/gateway/provider.py",
    "portal/gateway/running.py",
    "portal/gateway/server.py",
    "portal/gateway/shells.py",  # a pair of connected sockets
    "sessions/readiness.py",  # asks an app through our own gateway
    "sessions/activity.py",  # the same
    "schedulers/contract.py",
    "schedulers/kubernetes/forward.py",
    "workspaces/identity/ldap/connection.py",
    "workspaces/identity/certificates.py",  # opens none
    "workspaces/identity/oidc/protocol.py",
    # Programs in jobs, which only know the portal's address.
    "schedulers/programs/portal_api.py",
    "schedulers/programs/fetch_inputs.py",
    "schedulers/programs/save_outputs.py",
    "schedulers/programs/tunnel.py",
    "schedulers/images/registry.py",
    "schedulers/kubernetes/transport.py",
    "schedulers/kubernetes/access.py",
    "portal/core/lease_holder.py",
}  # the host name
CHANCE = {
    "portal/core/audit/forwarding.py",  # jitter
    "notifications/services/sending.py",
    "demo/backend.py",  # simulated programs and sensors
    "demo/checkpoints.py",
    "demo/datasets.py",
    "demo/experiments.py",
    "demo/history.py",
    "demo/simulation.py",
    "demo/telemetry.py",
}
MARKUP = {  # format_html, which escapes
    "workspaces/audit/event_links.py",
    "workspaces/templatetags/muster.py",
}
# SAML responses come from the provider's page; SCIM uses only tokens.
EXEMPT = {
    "datasets/folders/dav/views.py",  # tokens only
    "datasets/hub/commits.py",  # a signed address
    "datasets/hub/requests.py",  # tokens only
    "experiments/mlflow/routes.py",  # tokens only
    "notifications/web/pages.py",  # a signed address
    "workspaces/identity/saml/views.py",
    "workspaces/identity/scim/views.py",
}
CLIENTS = {
    "httpx",
    "requests",
    "urllib.request",
    "http.client",
    "socket",
    "ssl",
    "urllib3",
    "aiohttp",
    "ftplib",
    "telnetlib",
    "smtplib",
}
LOOSE = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "xml.etree.ElementTree",
    "xml.dom.minidom",
    "xml.sax",
    "telnetlib",
    "imp",
}

# Patterns passed as arguments: each is from a table of ours, or escaped.
PATTERNS = {
    "portal/management/commands/messages.py",  # of locale/glossary.toml
    "experiments/mlflow/routes.py",
    "schedulers/spec/field_types.py",
    "schedulers/spec/sbatch.py",
    "schedulers/slurm/errors.py",
    "schedulers/slurm/nodes.py",
    "schedulers/slurm/pending_reasons.py",
    "schedulers/slurm/rows.py",
    "schedulers/slurm/show.py",
    "schedulers/slurm/transport.py",
    "schedulers/kubernetes/kueue.py",
    "portal/core/sqlite.py",  # escaped, or `.`
    "workspaces/identity/sessions.py",  # marks of browsers
}
FORMATS = {
    "clusters/health/checks.py",
    "experiments/search/expressions.py",
    "jobs/notices.py",  # of kinds
    "jobs/ports/provider.py",  # likewise
    "notifications/services/grouping.py",  # likewise
    "portal/core/event_texts.py",  # likewise
    "portal/core/messages.py",
    "portal/web/translation.py",
    "portal/core/joined_select.py",
    "schedulers/slurm/pending_reasons.py",
    "schedulers/slurm/transport.py",
    "schedulers/kubernetes/kueue.py",
}  # likewise from tables of ours
CRYPTOGRAPHY = re.compile(
    r"(cryptography|Crypto|Cryptodome|nacl|OpenSSL|jwt|jose|jwcrypto|authlib|pyotp|bcrypt|argon2)(\.|$)"
)
# All algorithms in use: AES-CBC with HMAC-SHA256 (Fernet), HKDF, SHA-256, RSA-3072 signatures, and
# tokens signed with them.
PRIMITIVES = {
    "cryptography.exceptions",
    "cryptography.exceptions.UnsupportedAlgorithm",
    "cryptography.fernet",
    "cryptography.fernet.Fernet",
    "cryptography.fernet.InvalidToken",
    "cryptography.fernet.MultiFernet",
    "cryptography.hazmat.primitives",
    "cryptography.hazmat.primitives.hashes",
    "cryptography.hazmat.primitives.kdf.hkdf",
    "cryptography.hazmat.primitives.kdf.hkdf.HKDF",
    "cryptography.hazmat.primitives.asymmetric",
    "cryptography.hazmat.primitives.asymmetric.rsa",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "cryptography.hazmat.primitives.asymmetric.ed25519.Ed25519PrivateKey",
    "cryptography.hazmat.primitives.serialization",
    "cryptography.hazmat.primitives.serialization.SSHCertificateBuilder",
    "cryptography.hazmat.primitives.serialization.SSHCertificateType",
    "cryptography.hazmat.primitives.serialization.load_ssh_public_key",
    "cryptography.hazmat.primitives.serialization.Encoding",
    "cryptography.hazmat.primitives.serialization.NoEncryption",
    "cryptography.hazmat.primitives.serialization.PrivateFormat",
    "cryptography.hazmat.primitives.serialization.PublicFormat",
    "jwt",
}
HASHES = {"sha256", "sha512", "file_digest", "SHA256", "HMAC", "compare_digest", "digest", "new"}
# A registry names the hash of a layer: it is compared, but nothing depends on it alone. The handshake of
# websockets has SHA-1, which protects nothing there (RFC 6455).
NAMED_ELSEWHERE = {"schedulers/images/registry.py", "schedulers/programs/terminal.py"}
DOWNLOADS = {
    "portal/api/schema_view.py",
    "portal/web/transfers.py",
    "jobs/api/output.py",
    "workspaces/api/audit.py",
    "portal/lists.py",
}
IN_ADDRESSES = {"workspaces/identity/oidc/protocol.py"}

SECRET = re.compile(r"(^|_)(password|signature|hmac|otp|mac)$")
ASSIGNED = r"innerHTML\s*\+?=(?!\s*(?:\"[^\"]*\"|'[^']*')\s*;)"
Rule = Callable[[ast.AST], bool]


def called(node: ast.AST) -> str:
    """Return the last part of a called name: `execute` for `cursor.execute(…)`."""
    if not isinstance(node, ast.Call):
        return ""
    return (
        node.func.attr
        if isinstance(node.func, ast.Attribute)
        else node.func.id
        if isinstance(node.func, ast.Name)
        else ""
    )


def imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom) and not node.level:
        return {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return set()


def connects(node: ast.AST) -> bool:
    """Modules may import exceptions anywhere."""
    is_error = isinstance(node, ast.ImportFrom) and all(
        alias.name.endswith(("Error", "Exception")) for alias in node.names
    )
    return bool(imported(node) & CLIENTS) and not is_error


def keyword(node: ast.AST, name: str) -> ast.expr | None:
    return (
        next((word.value for word in node.keywords if word.arg == name), None)
        if isinstance(node, ast.Call)
        else None
    )


def is_off(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def compares_a_secret(node: ast.AST) -> bool:
    """`digest == given` leaks timing; use `hmac.compare_digest`."""
    if not isinstance(node, ast.Compare) or not all(
        isinstance(op, ast.Eq | ast.NotEq) for op in node.ops
    ):
        return False
    sides = [node.left, *node.comparators]
    names = [
        side.attr
        if isinstance(side, ast.Attribute)
        else side.id
        if isinstance(side, ast.Name)
        else ""
        for side in sides
    ]
    return not any(isinstance(side, ast.Constant) for side in sides) and any(
        SECRET.search(name) for name in names
    )


def has_no_reason(node: ast.AST) -> bool:
    """Reasons must be searchable: a literal, or a constant of the module."""
    if called(node) != "platform_scope" or not isinstance(node, ast.Call):
        return False
    result = node.args[0] if node.args else None
    return not (isinstance(result, ast.Constant) and len(str(result.value)) > 3) and not (
        isinstance(result, ast.Name) and result.id.isupper()
    )


def is_ours(pattern: ast.expr) -> bool:
    """A literal, a module constant, a concatenation of both, or escaped text."""
    if isinstance(pattern, ast.JoinedStr):
        return all(
            isinstance(part, ast.Constant)
            or (isinstance(part, ast.FormattedValue) and is_ours(part.value))
            for part in pattern.values
        )
    if isinstance(pattern, ast.Attribute):
        return pattern.attr == "pattern" and is_ours(
            pattern.value
        )  # of a pattern compiled from such a literal
    return (
        isinstance(pattern, ast.Constant)
        or (isinstance(pattern, ast.Name) and pattern.id.isupper())
        or called(pattern) == "escape"
    )


def has_foreign_pattern(node: ast.AST) -> bool:
    is_re = (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and getattr(node.func.value, "id", "") == "re"
    )
    return is_re and called(node) != "escape" and not is_ours(node.args[0])  # type: ignore[attr-defined]


def formats_what_is_given(node: ast.AST) -> bool:
    """`text.format(…)` can access attributes of its arguments."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"format", "format_map"}
        and not is_a_text_of_ours(node.func.value)
    )


def is_a_text_of_ours(value: ast.expr) -> bool:
    """A literal, a module constant or an item of one, or its translation."""
    if isinstance(value, ast.Call):
        name = called(value)
        return name in {"_", "gettext", "pgettext", "ngettext", "npgettext"} and all(
            isinstance(arg, ast.Constant) for arg in value.args[: 3 if name == "npgettext" else 2]
        )
    if isinstance(value, ast.IfExp):
        return is_a_text_of_ours(value.body) and is_a_text_of_ours(value.orelse)
    value = value.value if isinstance(value, ast.Subscript) else value
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id.isupper())


def is_other_cryptography(node: ast.AST) -> bool:
    return any(CRYPTOGRAPHY.match(name) and name not in PRIMITIVES for name in imported(node))


def is_other_hash(node: ast.AST) -> bool:
    """Used from hashlib and hmac by attribute, import or name."""
    if isinstance(node, ast.ImportFrom) and node.module in {"hashlib", "hmac"}:
        return not {alias.name for alias in node.names} <= HASHES
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in {"hashlib", "hmac", "hashes"}
    ):
        return node.attr not in HASHES or (node.value.id == "hashlib" and node.attr == "new")
    return isinstance(node, ast.Constant) and str(node.value).lower() in {
        "md5",
        "sha1",
        "sha-1",
        "hs1",
        "rc4",
        "des",
        "3des",
    }


def reads_a_secret_from_the_address(node: ast.AST) -> bool:
    """`request.GET.get("token")`, `request.GET["password"]`."""
    source = node.func if isinstance(node, ast.Call) else node
    source = source.value if isinstance(source, ast.Attribute | ast.Subscript) else None
    if not (isinstance(source, ast.Attribute) and source.attr in {"GET", "query_params"}):
        return False
    request = (
        node.args[:1]
        if isinstance(node, ast.Call)
        else [node.slice]
        if isinstance(node, ast.Subscript)
        else []
    )
    return any(
        isinstance(name, ast.Constant)
        and re.search(r"token|password|secret|api_?key|code$", str(name.value))
        for name in request
    )


IMPORT = ast.Import | ast.ImportFrom
# What is not allowed: which kinds of nodes to look at, the rule, and the modules that are allowed it.
RULES: dict[str, tuple[Any, Rule, set[str]]] = {
    "SQL is written by hand in few places": (
        ast.Call,
        lambda n: called(n) in {"execute", "executemany", "copy_expert"},
        SQL_BY_HAND,
    ),
    "no ORM call takes SQL": (ast.Call, lambda n: called(n) in {"raw", "extra", "RawSQL"}, set()),
    "markup is made by templates": (
        ast.Call,
        lambda n: (
            called(n) in {"mark_safe", "SafeString", "SafeText", "format_html", "format_html_join"}
        ),
        MARKUP,
    ),
    "few modules open connections": (IMPORT, connects, CONNECTS),
    "chance that must not be guessed comes from secrets": (
        IMPORT,
        lambda n: "random" in imported(n),
        CHANCE,
    ),
    "nothing loads code from data": (
        IMPORT | ast.Call,
        lambda n: (
            bool(imported(n) & LOOSE)
            or (
                isinstance(n, ast.Call)
                and isinstance(n.func, ast.Name)
                and n.func.id in {"eval", "exec", "compile", "__import__"}
            )
        ),
        {"datasets/folders/dav/__init__.py"},  # registers a prefix, and reads nothing
    ),
    "certificates are checked": (
        ast.Call | ast.Attribute,
        lambda n: (
            is_off(keyword(n, "verify"))
            or called(n) == "_create_unverified_context"
            or (isinstance(n, ast.Attribute) and n.attr == "CERT_NONE")
        ),
        set(),
    ),
    "no view is exempt from CSRF or framing": (
        IMPORT,
        lambda n: bool(
            imported(n)
            & {
                "django.views.decorators.csrf.csrf_exempt",
                "django.views.decorators.clickjacking.xframe_options_exempt",
            }
        ),
        EXEMPT,
    ),
    "secrets are compared in constant time": (ast.Compare, compares_a_secret, set()),
    "work across organizations says why": (ast.Call, has_no_reason, set()),
    "no row-level security is opened but for migrations": (
        ast.Call,
        lambda n: called(n) == "disable_row_security",
        {"workspaces/tenancy/row_security.py"},
    ),
    "templates are files": (ast.Call, lambda n: called(n) in {"Template", "from_string"}, set()),
    "no text from elsewhere is a format": (ast.Call, formats_what_is_given, FORMATS),
    "patterns are ours or escaped": (ast.Call, has_foreign_pattern, PATTERNS),
    "cryptography comes by few names": (IMPORT, is_other_cryptography, set()),
    "hashes are of 256 bits and more": (
        ast.ImportFrom | ast.Attribute | ast.Constant,
        is_other_hash,
        NAMED_ELSEWHERE,
    ),
    "few modules name a download": (
        ast.Constant,
        lambda n: isinstance(n, ast.Constant) and str(n.value).lower() == "content-disposition",
        DOWNLOADS,
    ),
    "no secret is read from an address": (
        ast.Call | ast.Subscript,
        reads_a_secret_from_the_address,
        IN_ADDRESSES,
    ),
    "what is in the address and what is in the body are never mixed": (
        ast.BinOp,
        lambda n: (
            isinstance(n, ast.BinOp)
            and {getattr(n.left, "attr", ""), getattr(n.right, "attr", "")} >= {"GET", "POST"}
        ),
        set(),
    ),
}


def kinds_of(kinds: Any) -> tuple[type[ast.AST], ...]:
    return get_args(kinds) or (kinds,)


@cache
def nodes() -> dict[type[ast.AST], list[tuple[str, ast.AST]]]:
    """Return the nodes of all our modules by kind, parsed once for all rules."""
    found: dict[type[ast.AST], list[tuple[str, ast.AST]]] = {
        kind: [] for kinds, _, _ in RULES.values() for kind in kinds_of(kinds)
    }
    for path in sources(*PACKAGES):
        name = shown(path)
        for node in ast.walk(ast.parse(path.read_text())):
            if type(node) in found:
                found[type(node)].append((name, node))
    return found


def found_by(name: str) -> Iterator[tuple[str, int]]:
    kinds, rule, _ = RULES[name]
    for kind in kinds_of(kinds):
        for path, node in nodes()[kind]:
            if rule(node):
                yield path, node.lineno


def test_security_rule_has_no_violations():
    broken = [
        f"{path}:{line}: {name}"
        for name, (_, _, allowed) in RULES.items()
        for path, line in found_by(name)
        if path not in allowed
    ]
    assert len(nodes()[ast.Call]) > 50_000
    assert broken == []


def texts(*patterns: str) -> Iterator[Path]:
    for pattern in patterns:
        yield from (
            path
            for path in ROOT.glob(pattern)
            if "vendor" not in path.parts and "node_modules" not in path.parts
        )


def test_templates_disable_escaping_only_in_plain_mail():
    risky = re.compile(r"\|\s*safe\b|\|\s*safeseq\b|autoescape off")
    found = [
        shown(path)
        for path in texts("templates/**/*.html", "templates/**/*.txt")
        if risky.search(path.read_text())
    ]
    assert [name for name in found if not name.endswith(".txt")] == []


def test_scripts_do_not_turn_text_into_markup_or_code():
    """`innerHTML` accepts only one literal without placeholders."""
    risky = re.compile(
        rf"outerHTML\s*=|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|{ASSIGNED}"
    )
    paths = list(texts("static/js/**/*.js"))
    assert len(paths) > 10
    assert [shown(path) for path in paths if risky.search(path.read_text())] == []


def scripts() -> str:
    return "\n".join(path.read_text() for path in texts("static/js/**/*.js"))


def test_scripts_store_only_display_settings_in_browser():
    """Allowed by name or prefix; no other kind of storage is used."""
    text = scripts()
    assert set(re.findall(r"localStorage\.\w+Item\(\s*([^,)]+)", text)) == {
        '"theme"',
        "`log-${name}`",
        "name",  # of a chart set: pins and folded sections
        "this.memory",
        "store",  # saved views of a list, and what the palette opened last
    }
    kept = set(re.findall(r"sessionStorage\.\w+Item\(\s*([^,)]+)", text))
    # Input of a form that may be refused, until the next page; no masked fields.
    # The filters of a list for the way back; a draft of a job, until the next page. A number.
    assert kept == {
        '"unread"',
        '"following"',  # and `name`: which element has the focus, and how far a page is scrolled
        "name",
        "key",  # what was typed in a form in steps, without secrets
        "KEY",
        "stash",
        "`list:${location.pathname}`",
        '`list:${link.getAttribute("href"',
    }
    assert (
        set(
            re.findall(
                r"(?:local|session)Storage(?!\.(?:[gs]et|remove)Item\()|indexedDB"
                r"|document\.cookie = .{16}|caches\.open",
                text,
            )
        )
        # The columns of a list, and the pinned runs of an experiment: the server draws them. The
        # time zone, in which days of filters begin.
        == {
            "document.cookie = `muster_columns_",
            "document.cookie = `${PINS}=${kept.",
            "document.cookie = `muster_zone=${z",
        }
    )


def test_scripts_do_not_extend_object_prototype():
    """`Object.assign` needs a new target.

    Keys from elsewhere are used only for a form's own fields.
    """
    text = scripts()
    assert (
        re.findall(r"__proto__|\.prototype\b\s*(?:\[|\.\w+\s*=)|setPrototypeOf|constructor\[", text)
        == []
    )
    assert [
        target
        for target in re.findall(r"Object\.assign\(([^,]+),", text)
        if not target.startswith(("document.createElement(", "{}"))
    ] == []
    named = re.findall(r"(\w+\[[a-zA-Z_]\w*(?:\.\w+)*\])\s*(?:=(?![=>])|\?\?=|\|\|=)", text)
    assert sorted(set(named)) == ["loaded[wanted]", "this[flag]", "zooms[axis]"]


def test_pages_and_scripts_do_not_block_pasting():
    assert re.findall(r"paste", scripts()) == []
    assert [
        shown(path) for path in texts("templates/**/*.html") if "onpaste" in path.read_text()
    ] == []
