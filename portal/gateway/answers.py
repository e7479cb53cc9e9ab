"""Answers that the gateway gives itself: refusals, redirects, pages, and what protects browsers."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import parse_qs

from websockets.utils import accept_key

from portal.gateway.heads import END, MessageHead
from portal.gateway.routes import PATHS, Route

NONCE_SECONDS = 300  # to come back from the portal, which may ask for a password
WAIT = 3  # seconds until a waiting page is loaded again
_PRIVATE = (
    b"Cache-Control: no-store",
    b"Referrer-Policy: no-referrer",
    b"X-Content-Type-Options: nosniff",
)
_PAGE = b"Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
_NOTHING = b"Content-Security-Policy: default-src 'none'; sandbox"
_REMOVE = b"""\
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const key of await caches.keys()) await caches.delete(key);
  await self.registration.unregister();
  for (const page of await self.clients.matchAll({ type: "window" })) page.navigate(page.url);
})()));
"""
# An app below a path of the portal's host runs in an origin of its own, which no cookie reaches.
_SANDBOX = (
    b"Content-Security-Policy: sandbox allow-scripts allow-forms allow-modals allow-downloads",
    b"Referrer-Policy: no-referrer",
    b"X-Content-Type-Options: nosniff",
)
_FROM_ITSELF = (b"Access-Control-Allow-Origin: null", b"Vary: Origin")
_OTHER_SITE = "Another site asked for this, so your browser's session does not count."


def plain(status: int, why: str, *, is_retryable: bool = False) -> bytes:
    """Return a refusal for programs."""
    more = [_NOTHING]
    if is_retryable:
        more.append(b"Retry-After: 2")
    if status == HTTPStatus.UNAUTHORIZED:
        more.append(b"WWW-Authenticate: Bearer")
    text = f"{why}\n".encode()
    return _answer(status, b"text/plain; charset=utf-8", text, more)


def page(status: int, html: bytes, *, is_waiting: bool) -> bytes:
    """Return a page for people; one that waits is loaded again."""
    more = [_PAGE, *([b"Refresh: %d" % WAIT] if is_waiting else [])]
    return _answer(status, b"text/html; charset=utf-8", html, more)


def no_worker(head: MessageHead) -> bytes | None:
    """Return a service worker that removes itself, if the browser looks for the newest of an app.

    A worker answers for its origin also after the end of its app, and may answer with an old page.
    """
    if head.get(b"service-worker").lower() != b"script":
        return None
    return _answer(HTTPStatus.OK, b"text/javascript", _REMOVE, ())


def switched(head: MessageHead, protocol: bytes) -> bytes:
    """Open the websocket that a client asks for."""
    lines = [
        b"HTTP/1.1 101 Switching Protocols",
        b"Connection: Upgrade",
        b"Upgrade: websocket",
        b"Sec-WebSocket-Accept: "
        + accept_key(head.get(b"sec-websocket-key").decode("latin1")).encode(),
        b"Sec-WebSocket-Protocol: " + protocol,
    ]
    return b"\r\n".join(lines) + END


def to_portal(where: str, cookie: bytes, nonce: str, route: Route, *, is_secure: bool) -> bytes:
    """Send a browser to the portal, with a cookie by which it is known when it comes back."""
    path = PATHS if route.prefix else b"/"
    more = [
        b"Location: " + where.encode(),
        _cookie(cookie, nonce, path, is_secure=is_secure) + b"; Max-Age=%d" % NONCE_SECONDS,
        _NOTHING,
    ]
    return _answer(HTTPStatus.FOUND, b"", b"", more)


def with_ticket(
    cookie: bytes, ticket: str, path: str, route: Route, host: bytes, *, is_secure: bool
) -> bytes:
    """Send a browser to the page that it wanted, with its ticket in a cookie or in the path."""
    base = (b"https://" if is_secure else b"http://") + host
    more = [_NOTHING]
    if route.prefix:
        base += route.prefix + b"/~" + ticket.encode()
    else:
        more.append(_cookie(cookie, ticket, b"/", is_secure=is_secure))
    more.append(b"Location: " + base + path.encode("latin1"))
    return _answer(HTTPStatus.SEE_OTHER, b"", b"", more)


def for_browser(head: MessageHead, route: Route, scheme: bytes) -> bytes | None:
    """Return the refusal of a request that another site made with this browser's ticket.

    Also the answers that an app below a path does not give: to its own preflight requests.
    """
    origin, site = head.get(b"origin"), head.get(b"sec-fetch-site")
    is_navigation = head.get(b"sec-fetch-mode") == b"navigate"
    is_refused = False
    if not route.prefix:
        is_link = is_navigation and head.method in (b"GET", b"HEAD")
        is_refused = (bool(origin) and origin != scheme + b"://" + head.get(b"host")) or (
            site in (b"same-site", b"cross-site") and not is_link
        )
    elif origin not in (b"", b"null") or (site == b"same-origin" and not is_navigation):
        is_refused = True
    if is_refused:
        return plain(HTTPStatus.FORBIDDEN, _OTHER_SITE)
    asked = head.get(b"access-control-request-method")
    if route.prefix and head.method == b"OPTIONS" and asked:
        more = [
            *_FROM_ITSELF,
            b"Access-Control-Allow-Methods: " + asked,
            b"Access-Control-Allow-Headers: " + head.get(b"access-control-request-headers"),
            b"Access-Control-Max-Age: 600",
        ]
        return _answer(HTTPStatus.NO_CONTENT, b"", b"", more)
    return None


def sandbox(head: MessageHead, route: Route) -> Sequence[bytes]:
    """Return the lines that keep an app below a path apart from the portal on the same host."""
    if not route.prefix:
        return ()
    return (*_SANDBOX, *_FROM_ITSELF) if head.get(b"origin") == b"null" else _SANDBOX


def query_value(target: bytes, name: str) -> str:
    query = target.partition(b"?")[2].decode("latin1")
    return parse_qs(query).get(name, [""])[0]


def _cookie(name: bytes, value: str, path: bytes, *, is_secure: bool) -> bytes:
    secure = b"; Secure" if is_secure else b""
    given = name + b"=" + value.encode() + b"; Path=" + path
    return b"Set-Cookie: " + given + b"; HttpOnly; SameSite=Lax" + secure


def _answer(status: int, kind: bytes, body: bytes, more: Sequence[bytes]) -> bytes:
    """Return an answer after which the connection ends."""
    lines = [
        b"HTTP/1.1 %d %b" % (status, HTTPStatus(status).phrase.encode()),
        *([b"Content-Type: " + kind] if kind else []),
        *([b"Content-Length: %d" % len(body)] if status != HTTPStatus.NO_CONTENT else []),
        *_PRIVATE,
        *more,
        b"Connection: close",
    ]
    return b"\r\n".join(lines) + END + body
