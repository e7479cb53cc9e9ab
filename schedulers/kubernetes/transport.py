"""Configure the official client for one API server, and describe connection problems in words.

Import this module only where a cluster is contacted: it loads `kubernetes`, which takes 20 MB.

The official client is given our pool manager, because its own settings read client certificates
only from files and limit only the silence between two bytes. Redirects are not followed and proxies
of the environment are not used: either would send the credentials elsewhere.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
from typing import Any

import urllib3
from kubernetes.client import ApiClient, ApiException, Configuration
from kubernetes.utils.keepalive import tcp_keepalive_socket_options
from urllib3.connection import HTTPConnection, HTTPSConnection

from portal.core.messages import Message
from schedulers.contract import Unavailable
from schedulers.kubernetes.access import Access

CONNECT, READ = 3.0, 10.0  # seconds
WHOLE = 30.0  # seconds in which a response must be complete,
# plus one second per this many bytes received: a long list over a slow line is no hang
RATE = 1 << 17
Response = urllib3.BaseHTTPResponse
ERRORS = (urllib3.exceptions.HTTPError, ApiException, OSError)  # of a connection


def api_client(access: Access, connections: int, *, is_streaming: bool = False) -> ApiClient:
    """Return an official client with its own connection pool. Raises BadAccess.

    Responses must be complete in time, unless the client is for streams (watches, logs). Without
    streams, callers wait for one of the connections.
    """
    # an empty proxy, because None would mean that of the environment
    configuration = Configuration(host=access.server, retries=False, proxy="")
    if bearer := access.bearer():
        configuration.api_key["BearerToken"] = bearer
    if access.token_file:
        configuration.refresh_api_key_hook = lambda made: made.api_key.update(  # type: ignore[assignment]
            BearerToken=access.bearer()
        )
    client = ApiClient(configuration)
    client.user_agent = "muster"
    client.rest_client.pool_manager = manager = urllib3.PoolManager(
        maxsize=connections,
        block=not is_streaming,
        retries=False,
        ssl_context=access.tls(),
        server_hostname=access.server_name or None,
        # a middlebox may drop an idle connection silently
        socket_options=tcp_keepalive_socket_options(),
    )
    if not is_streaming:
        manager.pool_classes_by_scheme = {"http": _LimitedPool, "https": _LimitedTlsPool}
    return client


class _LimitedReader(io.RawIOBase):
    """Read a response from a socket, and limit its time as a whole.

    A read timeout alone starts again with each byte.
    """

    def __init__(self, sock: socket.socket):
        self._raw = sock.makefile("rb", buffering=0)
        self._until = time.monotonic() + WHOLE

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if time.monotonic() > self._until:
            raise TimeoutError("the response came too slowly")
        count = self._raw.readinto(buffer)
        self._until += (count or 0) / RATE
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _LimitedResponse(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **given: Any):
        super().__init__(sock, *args, **given)
        self.fp.close()
        self.fp = io.BufferedReader(_LimitedReader(sock))


class _LimitedConnection(HTTPConnection):
    response_class = _LimitedResponse


class _LimitedTlsConnection(HTTPSConnection):
    response_class = _LimitedResponse


class _LimitedPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _LimitedConnection


class _LimitedTlsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _LimitedTlsConnection


def explained(error: BaseException, server: str) -> Unavailable:
    """Describe a connection problem with the server, with the option that causes it."""
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        # None ends the walk
        error = (
            getattr(error, "reason", None)  # type: ignore[assignment]
            if isinstance(getattr(error, "reason", None), BaseException)
            else error.__cause__ or error.__context__
        )
    for one in chain:
        if isinstance(one, ssl.SSLCertVerificationError):
            said = str(one.verify_message or one).rstrip(".")
            if "mismatch" in said:
                text = Message(
                    "The certificate of {server} is for another name: {x}. Use the name in it.",
                    server=server,
                    x=said,
                )
                return Unavailable(text, "server")
            text = Message(
                "The certificate of {server} is not trusted: {x}. Paste the certificate of its "
                "authority.",
                server=server,
                x=said,
            )
            return Unavailable(text, "authority")
        if isinstance(one, (socket.gaierror, urllib3.exceptions.NameResolutionError)):
            text = Message("The name in {server} is unknown to DNS. Check it.", server=server)
            return Unavailable(text, "server")
        if isinstance(one, ConnectionRefusedError):
            text = Message(
                "Nothing listens at {server}: the connection was refused. Check the port.",
                server=server,
            )
            return Unavailable(text, "server")
    if any(isinstance(one, (TimeoutError, urllib3.exceptions.TimeoutError)) for one in chain):
        text = Message(
            "{server} did not answer in time. Check the address and the firewall.", server=server
        )
    elif any(isinstance(one, (ssl.SSLError, urllib3.exceptions.SSLError)) for one in chain):
        text = Message(
            "A secure connection to {server} failed: {x}. Check the port and the scheme.",
            server=server,
            x=chain[-1],
        )
    elif any(isinstance(one, urllib3.exceptions.ProtocolError) for one in chain):
        text = Message("The connection to {server} was interrupted.", server=server)
    else:
        text = Message("The connection to {server} failed: {x}.", server=server, x=chain[-1])
    return Unavailable(text, "server")
