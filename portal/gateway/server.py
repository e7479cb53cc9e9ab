"""Serve connections: judge each head, connect to the port of the job, relay bytes both ways."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import socket
import time
from collections import Counter
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from portal.core.errors import (
    NotAuthenticated,
    NotFound,
    NotPermitted,
    PortalError,
    Unavailable,
)
from portal.gateway import answers
from portal.gateway.channels import Channel, Closed
from portal.gateway.framing import Framing, UntilClose, request_framing, response_framing
from portal.gateway.heads import (
    END,
    MAX_HEAD,
    BadHead,
    MessageHead,
    PublicLocation,
    cookie_in,
    parse_request,
    parse_response,
    request_to_app,
    response_to_client,
    token_in,
)
from portal.gateway.person import GREETING, Frames, is_by_person
from portal.gateway.provider import (
    Address,
    Credential,
    EndpointProvider,
    Grant,
    NotReady,
    NotServing,
    PortUse,
    Target,
)
from portal.gateway.routes import TUNNEL, Route, route_of
from portal.gateway.shells import open_shell
from portal.gateway.tunnels import Tunnels

log = logging.getLogger(__name__)
THREADS = 8  # that ask the provider
FORWARD = b"muster-tcp"  # the websocket subprotocol of `muster port-forward` and of tunnels
_MOST_CACHED = 10_000
_MOST_IDLE, _IDLE_SECONDS = 8, 15.0  # connections to one app that wait for a request
_REPEATABLE = (b"GET", b"HEAD", b"OPTIONS")
T = TypeVar("T")


@dataclass(frozen=True)
class Options:
    """`apps_host` (with port) is the domain of apps' own origins, or empty. Times are in seconds."""

    apps_host: str = ""
    is_secure: bool = False  # browsers use https
    is_behind_proxy: bool = False  # the last X-Forwarded-For is the client
    connections: int = 8192
    of_a_person: int = 512  # requests and streams at once
    head_seconds: float = 15
    idle_seconds: float = 75  # between requests on one connection
    dial_seconds: float = 10
    answer_seconds: float = 600  # until the app begins its answer
    cache_seconds: float = 2
    check_seconds: float = 3  # between two checks of an open connection
    watch_seconds: float = 0.5  # between two looks for changes, after which all are checked at once
    report_seconds: float = 10

    @property
    def cookie(self) -> bytes:
        return b"__Host-muster_app" if self.is_secure else b"muster_app"

    @property
    def nonce_cookie(self) -> bytes:
        return b"__Secure-muster_app_nonce" if self.is_secure else b"muster_app_nonce"


@dataclass(eq=False, slots=True)
class Stream:
    """A request or an open connection that is checked again while it lives."""

    address: Address
    credential: Credential
    grant: Grant
    end: Callable[[], None]


@dataclass(slots=True)
class _Clock:
    """When a port was used; `is_new` until it is reported."""

    at: float = 0
    person_at: float = 0
    people: set[str] = field(default_factory=set)
    streams: int = 0
    has_answered: bool = False
    is_new: bool = False


@dataclass(slots=True)
class _Client:
    channel: Channel
    address: str
    scheme: bytes
    is_tunnel: bool = False  # the connection is kept for later


@dataclass(frozen=True, slots=True)
class _Request:
    head: MessageHead
    route: Route
    credential: Credential
    place: PublicLocation


class _NoAnswer(ConnectionError):
    """The app has closed the connection before the first byte of an answer."""


@dataclass(eq=False)
class Gateway:
    """One process of the gateway. `provider` decides; nothing is stored here."""

    provider: EndpointProvider
    options: Options = field(default_factory=Options)
    after_each: Callable[[], None] | None = None  # call of the provider, in its thread
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(THREADS))

    def __post_init__(self) -> None:
        self._grants: dict[tuple[Address, Credential], tuple[float, Grant]] = {}
        self._idle: dict[tuple[str, int], list[tuple[float, Channel]]] = {}
        self._targets: dict[tuple[str, int], tuple[float, Target]] = {}
        self._asked: dict[Any, asyncio.Future[Any]] = {}
        self._streams: set[Stream] = set()
        self._of_person: Counter[str] = Counter()
        self._clocks: dict[tuple[str, int], _Clock] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._extra = [
            b"Content-Security-Policy: frame-ancestors 'self'",
            *([b"Strict-Transport-Security: max-age=31536000"] if self.options.is_secure else []),
        ]
        self.tunnels = Tunnels()

    async def serve(self, sock: socket.socket, stop: asyncio.Event) -> None:
        """Accept connections until `stop` is set; then all are closed."""
        loop = asyncio.get_running_loop()
        if sock.family == socket.AF_UNIX:
            server = await loop.create_unix_server(self._accepted, sock=sock, backlog=2048)
        else:
            server = await loop.create_server(self._accepted, sock=sock, backlog=2048)
        loops = [loop.create_task(one) for one in (self._check(), self._watch(), self._report())]
        await stop.wait()
        server.close()
        tasks = [*loops, *self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._flush()
        self.threads.shutdown(wait=False, cancel_futures=True)

    def _accepted(self) -> Channel:
        return _Accepted(self._begin)

    def _begin(self, channel: Channel, peer: str) -> None:
        if len(self._tasks) >= self.options.connections:
            channel.write(answers.plain(503, "Too many connections are open."))
            channel.close()
            return
        task = asyncio.get_running_loop().create_task(self._serve(channel, peer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, channel: Channel, peer: str) -> None:
        client = _Client(channel, peer, b"https" if self.options.is_secure else b"http")
        try:
            while await self._serve_one(client):
                pass
        except (ConnectionError, TimeoutError):
            channel.abort()
        except BadHead as error:
            channel.write(answers.plain(error.status, str(error)))
        except asyncio.CancelledError:
            channel.abort()
        except Exception:
            log.exception("a connection failed")
            channel.write(answers.plain(500, "The gateway failed."))
        finally:
            if not client.is_tunnel:
                channel.on_end = None
                channel.close()

    async def _serve_one(self, client: _Client) -> bool:
        """Serve one request; return whether another one may follow."""
        if (head := await self._head(client)) is None:
            return False
        if self.options.is_behind_proxy:
            _believe_proxy(client, head)
        if head.target == TUNNEL:
            return await self._take_tunnel(client, head)
        route = route_of(head, self.options.apps_host)
        if route is None:
            return _send(client, head, answers.plain(404, "There is nothing here."))
        request = self._request(client, head, route)
        try:
            return await self._judge(client, request)
        except PortalError as error:
            return await self._explain(client, request, error)

    async def _head(self, client: _Client) -> MessageHead | None:
        """Return the next head, or None at the end. Raises BadHead, TimeoutError."""
        channel = client.channel
        if not channel.is_readable:
            async with asyncio.timeout(self.options.idle_seconds):
                await channel.wait_readable()
        try:
            async with asyncio.timeout(self.options.head_seconds):
                data = await channel.read_until(END, MAX_HEAD)
        except ValueError as error:
            raise BadHead("The head of the request is too long.", 431) from error
        return parse_request(data) if data else None

    def _request(self, client: _Client, head: MessageHead, route: Route) -> _Request:
        token = token_in(head.get(b"authorization"))
        ticket = route.ticket if route.prefix else cookie_in(head, self.options.cookie)
        credential = Credential(token or "", "" if token else ticket, client.address)
        place = PublicLocation(client.address.encode(), client.scheme, route.prefix)
        return _Request(head, route, credential, place)

    async def _judge(self, client: _Client, request: _Request) -> bool:
        head, route, credential = request.head, request.route, request.credential
        if not credential.token:
            if route.is_go:
                return await self._take_code(client, request)
            if answer := answers.for_browser(head, route, client.scheme):
                return _send(client, head, answer)
        if not (credential.token or credential.ticket):
            raise NotAuthenticated("Open this app from the page of its job, or send a token.")
        grant = await self._admit(route.address, credential)
        if grant.is_read_only:
            _check_reads(request, grant.posts)
        if self._of_person[grant.person] >= self.options.of_a_person:
            why = "You have too many connections open."
            return _send(client, head, answers.plain(429, why))
        self._of_person[grant.person] += 1
        try:
            return await self._relay(client, request, grant)
        finally:
            self._of_person[grant.person] -= 1
            if not self._of_person[grant.person]:
                del self._of_person[grant.person]

    # Relaying

    async def _relay(self, client: _Client, request: _Request, grant: Grant) -> bool:
        channel = client.channel
        stream = Stream(request.route.address, request.credential, grant, channel.abort)
        self._streams.add(stream)
        if grant.is_counted:
            self._touch(grant, is_person=is_by_person(request.head))
        try:
            is_forward = bool(request.credential.token) and _is_forward(request.head)
            if is_forward:
                upstream = await self._forwarded(grant)
                channel.write(answers.switched(request.head, FORWARD))
                channel.use_websocket()
                await self._pass_bytes(client, upstream, grant)
                return False
            kept = self._take_idle(grant)
            if kept is not None:
                try:
                    return await self._exchange(client, request, grant, kept)
                except _NoAnswer:
                    # It may have ended in the moment in which it was used again.
                    if request.head.has_body or request.head.method not in _REPEATABLE:
                        raise
            return await self._exchange(client, request, grant, await self._connect(grant))
        except _NoAnswer as error:
            if await self._ask(lambda: self.provider.is_starting(grant)):
                raise NotReady("The program does not answer yet.") from error
            raise NotServing("The program closed the connection without an answer.") from error
        finally:
            self._streams.discard(stream)
            channel.on_end = None

    async def _exchange(
        self, client: _Client, request: _Request, grant: Grant, upstream: Channel
    ) -> bool:
        """Pass a request on, and its answer back. Raises _NoAnswer if there is none."""
        head, channel, is_reusable = request.head, client.channel, False
        channel.on_end = upstream.abort
        body: asyncio.Task[None] | None = None
        try:
            if channel.is_at_end:
                raise Closed
            authorization = grant.authorization.encode()
            place = replace(request.place, access=b"read" if grant.is_read_only else b"")
            upstream.write(request_to_app(head, request.route.target, place, authorization))
            if head.has_body:
                body = asyncio.create_task(_pump(channel, upstream, request_framing(head)))
            answer = await self._answer(client, upstream, request)
            if grant.is_counted:
                self._touch(grant, has_answered=True)
            if answer.status == 101:
                await self._pass_bytes(client, upstream, grant, Frames())
                return False
            framing = response_framing(answer, head.method)
            await _pump(upstream, channel, framing)
            # If the app did not read everything, the rest is not a new request.
            is_read = body is None or (body.done() and not body.exception())
            is_reusable = is_read and framing.is_complete and answer.is_persistent and head.is_1_1
            return is_read and _is_kept(head, answer)
        except (_NoAnswer, Closed):
            if body is not None and body.done() and isinstance(body.exception(), BadHead):
                raise body.exception() from None  # type: ignore[misc]
            raise
        finally:
            if body is not None:
                body.cancel()
            self._put_idle(grant, upstream) if is_reusable else upstream.abort()

    async def _answer(self, client: _Client, upstream: Channel, request: _Request) -> MessageHead:
        """Pass on the head of the answer and return it."""
        head = request.head
        seconds = self.options.answer_seconds
        try:
            async with asyncio.timeout(seconds):
                answer = await _read_answer(upstream, client.channel)
        except TimeoutError as error:
            raise NotServing(f"The program has not answered within {seconds:g} s.") from error
        if answer.status == 101 and (head.has_body or not head.is_upgrade):
            raise BadHead("The app switched protocols without being asked.", 502)
        extra = [*self._extra, *answers.sandbox(head, request.route)]
        client.channel.write(
            response_to_client(answer, request.place, extra, is_kept=_is_kept(head, answer))
        )
        return answer

    async def _pass_bytes(
        self, client: _Client, upstream: Channel, grant: Grant, frames: Frames | None = None
    ) -> None:
        """Relay a websocket, whose frames are counted, or plain TCP until both sides have ended."""
        client.channel.on_end = None
        clock = self._touch(grant)
        clock.streams += 1
        try:
            async with asyncio.TaskGroup() as both:
                if grant.is_read_only:
                    both.create_task(_drop(client.channel, upstream, clock))
                else:
                    both.create_task(_copy(client.channel, upstream, clock, frames))
                both.create_task(_copy(upstream, client.channel, clock))
        except* ConnectionError:
            client.channel.abort()
        finally:
            upstream.abort()
            clock.streams -= 1
            clock.is_new = True

    def _take_idle(self, grant: Grant) -> Channel | None:
        """Return a connection to the app that another request has left, or None."""
        idle = self._idle.get((grant.key, grant.port))
        while idle:
            channel = idle.pop()[1]
            channel.on_end = None
            if not channel.is_readable:
                return channel
            channel.abort()
        return None

    def _put_idle(self, grant: Grant, channel: Channel) -> None:
        """Keep a connection for the next request, unless the app has said too much."""
        idle = self._idle.setdefault((grant.key, grant.port), [])
        if channel.is_readable or len(idle) >= _MOST_IDLE:
            channel.abort()
            return
        idle.append((time.monotonic() + _IDLE_SECONDS, channel))
        channel.on_end = channel.abort

    def _drop_idle(self) -> None:
        now = time.monotonic()
        for key, idle in list(self._idle.items()):
            for entry in [one for one in idle if one[0] < now or one[1].is_lost]:
                entry[1].abort()
                idle.remove(entry)
            if not idle:
                del self._idle[key]

    async def _forwarded(self, grant: Grant) -> Channel:
        """Return what a client's plain bytes go to: the port, or SSH to the shell behind it."""
        if not grant.shell:
            return await self._connect(grant)
        (await self._connect(grant)).abort()  # so that a shell that does not run is said in words
        keys = await self._ask(lambda: self.provider.shell_keys(grant))
        return await open_shell(
            keys,
            grant.shell,
            lambda: self._connect(grant),
            lambda: self._touch(grant, is_person=True),
        )

    async def _connect(self, grant: Grant) -> Channel:
        """Return a new connection to the app. Raises NotServing, NotReady."""
        key = grant.key, grant.port
        target = await self._cached(self._targets, key, lambda: self.provider.locate(grant))
        try:
            async with asyncio.timeout(self.options.dial_seconds):
                return await self._dial(target, grant)
        except (OSError, TimeoutError) as error:
            self._targets.pop(key, None)
            if await self._ask(lambda: self.provider.is_starting(grant)):
                raise NotReady("The program does not answer yet.") from error
            raise NotServing("The program does not answer.") from error

    async def _dial(self, target: Target, grant: Grant) -> Channel:
        loop = asyncio.get_running_loop()
        if target.host:
            _, channel = await loop.create_connection(Channel, target.host, target.port)
            return channel
        if target.connect is not None:
            sock = await loop.run_in_executor(self.threads, target.connect)
            sock.setblocking(False)
            _, channel = await loop.create_connection(Channel, sock=sock)
            return channel
        return await self.tunnels.open(grant.key, grant.port, self.options.dial_seconds)

    async def _take_tunnel(self, client: _Client, head: MessageHead) -> bool:
        """Keep a connection that a job has dialled out, as a spare one."""
        token = token_in(head.get(b"authorization"))
        if token is None or not _is_forward(head):
            why = "This address is for the tunnels of jobs."
            return _send(client, head, answers.plain(400, why))
        try:
            key = await self._ask(lambda: self.provider.tunnel_key(token, client.address))
        except PortalError as error:
            return _send(client, head, answers.plain(error.http, str(error)))
        client.channel.write(answers.switched(head, FORWARD))
        client.channel.use_websocket()
        self.tunnels.offer(key, client.channel)
        client.is_tunnel = True
        return False

    # Permission

    async def _admit(self, address: Address, credential: Credential) -> Grant:
        return await self._cached(
            self._grants, (address, credential), lambda: self.provider.admit(address, credential)
        )

    async def _cached(self, known: dict[Any, tuple[float, T]], key: Any, ask: Callable[[], T]) -> T:
        """Return what is known, or ask once for all that wait for the same answer."""
        found = known.get(key)
        if found is not None and found[0] > time.monotonic():
            return found[1]
        asking = self._asked.get((id(known), key))
        if asking is None:
            asking = asyncio.ensure_future(self._ask(ask))
            self._asked[id(known), key] = asking
            asking.add_done_callback(lambda _: self._asked.pop((id(known), key), None))
        value: T = await asyncio.shield(asking)
        if len(known) >= _MOST_CACHED:
            known.clear()
        known[key] = (time.monotonic() + self.options.cache_seconds, value)
        return value

    async def _ask(self, ask: Callable[[], T]) -> T:
        def call() -> T:
            try:
                return ask()
            finally:
                if self.after_each is not None:
                    self.after_each()

        return await asyncio.get_running_loop().run_in_executor(self.threads, call)

    async def _check(self) -> None:
        """End what may no longer be used: its token, role, session or job has ended."""
        while True:
            await asyncio.sleep(self.options.check_seconds)
            self._drop_idle()
            await self._check_streams()

    async def _watch(self) -> None:
        """Check all at once after each change that may end access, as no connection may outlive it long.

        One question for all connections; what it misses is found by `_check`.
        """
        since = 0
        while True:
            await asyncio.sleep(self.options.watch_seconds)
            if not self._streams:
                since = 0
                continue
            try:
                since, is_changed = await self._ask(partial(self.provider.access_changes, since))
            except Exception as error:  # an outage ends nothing
                log.debug("changes of access are not known: %s", error)
                continue
            if is_changed:
                self._grants.clear()
                await self._check_streams()

    async def _check_streams(self) -> None:
        by_right: dict[tuple[Address, Credential], list[Stream]] = {}
        for stream in self._streams:
            by_right.setdefault((stream.address, stream.credential), []).append(stream)
        rights = list(by_right)
        found = await asyncio.gather(*(self._still(*right) for right in rights))
        for right, grant in zip(rights, found, strict=True):
            for stream in by_right[right]:
                if grant is not None and not _is_same(grant, stream.grant):
                    stream.end()

    async def _still(self, address: Address, credential: Credential) -> Grant | None:
        """Return the present grant, one of nothing if there is none; None if nobody knows now."""
        try:
            return await self._ask(lambda: self.provider.admit(address, credential))
        except Unavailable:
            return None
        except PortalError:
            return Grant("", 0, "")
        except Exception:
            log.exception("the right to an open connection could not be checked")
            return None

    # Answers of the gateway itself

    async def _take_code(self, client: _Client, request: _Request) -> bool:
        """Exchange the code with which a browser comes back from the portal for a ticket."""
        head, route = request.head, request.route
        code = answers.query_value(head.target, "code")
        nonce = _digest(cookie_in(head, self.options.nonce_cookie))
        ticket, path = await self._ask(lambda: self.provider.redeem(code, nonce, route.address))
        is_secure = self.options.is_secure
        name, host = self.options.cookie, head.get(b"host")
        answer = answers.with_ticket(name, ticket, path, route, host, is_secure=is_secure)
        return _send(client, head, answer)

    async def _explain(self, client: _Client, request: _Request, error: PortalError) -> bool:
        """Answer a request that does not reach its app: with a page, for a browser."""
        head, route, credential = request.head, request.route, request.credential
        is_gone = isinstance(error, (NotServing, NotFound)) and not error.retryable
        if is_gone and (answer := answers.no_worker(head)):
            return _send(client, head, answer)
        if not head.wants_page or credential.token:
            text, is_retryable = str(error), error.retryable
            answer = answers.plain(error.http, text, is_retryable=is_retryable)
        elif isinstance(error, NotAuthenticated):
            name = self.options.nonce_cookie
            nonce = cookie_in(head, name) or secrets.token_urlsafe(24)
            path = route.target.decode("latin1")
            where = self.provider.portal_address(
                route.address, _digest(nonce), path, is_below=bool(route.prefix)
            )
            is_secure = self.options.is_secure
            answer = answers.to_portal(where, name, nonce, route, is_secure=is_secure)
        else:
            html = await self._ask(lambda: self.provider.page(route.address, credential, error))
            answer = answers.page(error.http, html, is_waiting=error.retryable)
        return _send(client, head, answer)

    # Activity

    def _touch(
        self, grant: Grant, *, has_answered: bool = False, is_person: bool = False
    ) -> _Clock:
        clock = self._clocks.get((grant.key, grant.port))
        if clock is None:
            clock = self._clocks[grant.key, grant.port] = _Clock()
        clock.at, clock.is_new = time.time(), True
        if is_person:
            clock.person_at = clock.at
        if grant.is_counted:
            clock.people.add(grant.person)
        clock.has_answered |= has_answered
        return clock

    async def _report(self) -> None:
        while True:
            await asyncio.sleep(self.options.report_seconds)
            await self._flush()

    async def _flush(self) -> None:
        """Report the ports that were used since the last time, or still are."""
        for stream in self._streams:
            clock = self._clocks.get((stream.grant.key, stream.grant.port))
            if clock is not None and stream.grant.is_counted:
                clock.people.add(stream.grant.person)
        uses = [
            PortUse(
                *(key, port, clock.at, clock.streams, clock.has_answered, clock.person_at),
                people=tuple(clock.people),
            )
            for (key, port), clock in self._clocks.items()
            if clock.is_new or clock.streams
        ]
        for key, clock in list(self._clocks.items()):
            if clock.streams:
                clock.is_new, clock.people = False, set()
            else:
                del self._clocks[key]
        if uses:
            try:
                await self._ask(lambda: self.provider.record(uses))
            except Exception:
                log.exception("the use of ports could not be stored")


class _Accepted(Channel):
    """A connection that a client has opened."""

    def __init__(self, begin: Callable[[Channel, str], None]) -> None:
        super().__init__()
        self._begin = begin

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self._begin(self, peer[0] if isinstance(peer, tuple) else "")


async def _read_answer(upstream: Channel, client: Channel) -> MessageHead:
    """Return the head of the answer; tell the client to continue, if the app does so before."""
    while (answer := await _read_head(upstream)).status < 200 and answer.status != 101:
        if answer.status == 100:
            client.write(b"HTTP/1.1 100 Continue" + END)
    return answer


async def _read_head(upstream: Channel) -> MessageHead:
    try:
        data = await upstream.read_until(END, MAX_HEAD)
    except ValueError as error:
        raise BadHead("The head of the app's answer is too long.", 502) from error
    if not data:
        raise _NoAnswer
    try:
        return parse_response(data)
    except BadHead as error:
        raise BadHead(f"The app's answer is not HTTP: {error}", 502) from error


async def _pump(source: Channel, sink: Channel, framing: Framing) -> None:
    """Pass a body on. Raises Closed if it ends too early, and ends the other side then."""
    try:
        while not framing.is_complete:
            data = await source.read()
            if not data:
                if isinstance(framing, UntilClose) and not source.is_lost:
                    return
                raise Closed
            used = framing.take(data)
            sink.write(data[:used])
            source.unread(data[used:])
            await sink.drain()
    except (Closed, BadHead):
        sink.abort()
        raise


async def _copy(
    source: Channel, sink: Channel, clock: _Clock, frames: Frames | None = None
) -> None:
    """Pass bytes on; `frames` are those of a client's websocket, which may be a person's."""
    since = time.time() + GREETING
    while data := await source.read():
        clock.at = time.time()
        if frames is not None and frames.feed(data) and clock.at > since:
            clock.person_at = clock.at
        sink.write(data)
        await sink.drain()
    if source.is_lost:
        raise Closed
    sink.write_eof()


async def _drop(source: Channel, sink: Channel, clock: _Clock) -> None:
    """Read what somebody sends who may only look, and pass nothing on."""
    while await source.read():
        clock.at = time.time()
    sink.abort()
    raise Closed


def _is_same(found: Grant, grant: Grant) -> bool:
    """Return whether a connection that was opened with a grant may stay open."""
    return (found.key, found.port, found.is_read_only) == (
        grant.key,
        grant.port,
        grant.is_read_only,
    )


def _check_reads(request: _Request, posts: Collection[str]) -> None:
    """Raise NotPermitted unless a request only reads, for those who may only look."""
    head, path = request.head, request.route.target.partition(b"?")[0].decode("latin1")
    is_post = head.method == b"POST" and path in posts
    has_body = head.has_body and not is_post
    if _is_forward(head) or has_body or not (head.method in _REPEATABLE or is_post):
        raise NotPermitted("This session is shared with you to look at it, not to change it.")


def _is_forward(head: MessageHead) -> bool:
    """Return whether a client wants a websocket that carries the bytes of TCP."""
    return (
        head.is_upgrade
        and head.get(b"upgrade").lower() == b"websocket"
        and head.get(b"sec-websocket-protocol") == FORWARD
        and bool(head.get(b"sec-websocket-key"))
    )


def _send(client: _Client, head: MessageHead, answer: bytes) -> bool:
    """Send an answer of the gateway itself, after which the connection ends."""
    if head.method == b"HEAD":
        answer = answer[: answer.index(END) + len(END)]
    client.channel.write(answer)
    return False


def _is_kept(head: MessageHead, answer: MessageHead) -> bool:
    framing = response_framing(answer, head.method)
    return head.is_persistent and not isinstance(framing, UntilClose)


def _believe_proxy(client: _Client, head: MessageHead) -> None:
    """Take the client's address from the proxy in front, which has written it."""
    forwarded = head.get(b"x-forwarded-for").rpartition(b",")[2].strip()
    client.address = forwarded.decode("latin1")[:45]


def _digest(nonce: str) -> str:
    return hashlib.sha256(nonce.encode()).hexdigest() if nonce else ""
