"""Open the network connection to a directory.

Python resolves the name once, checks the address, connects and encrypts. libldap would hang when a
server accepts a connection and stays silent in the handshake, and does not report certificate
errors. libldap gets one end of a socket pair; a thread relays bytes between the other end and the
server until the deadline.
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
from functools import lru_cache
from urllib.parse import urlsplit

from portal.core import clock
from portal.core.addresses import is_open_internet
from portal.core.messages import Message
from workspaces.identity.ldap.errors import DirectoryError
from workspaces.identity.ldap.settings import Config

_STARTTLS = bytes.fromhex("301d02010177188016") + b"1.3.6.1.4.1.1466.20037"
_SUCCESS = b"\x0a\x01\x00"  # resultCode 0 in the response
_CHUNK = 1 << 16


class DirectoryConnection:
    """A connection to the server in the URL: `end` is the socket that speaks unencrypted LDAP.

    `until` is the deadline, which may be moved; None without encryption, where no thread relays the
    bytes and none could enforce it.
    """

    def __init__(self, end: socket.socket, until: float | None):
        self.end, self.until = end, until

    @property
    def left(self) -> float:
        """Return the seconds until the deadline."""
        return (self.until or 0.0) - clock.monotonic()


def open_connection(config: Config, url: str, seconds: float) -> DirectoryConnection:
    """Connect to the server, over TLS unless encryption is disabled. Raises DirectoryError."""
    parts, until = urlsplit(url), clock.monotonic() + seconds
    host, port = parts.hostname or "", parts.port or (636 if parts.scheme == "ldaps" else 389)
    server = _connected(config, host, port, seconds)
    try:
        server.settimeout(max(0.05, until - clock.monotonic()))
        if parts.scheme == "ldap":
            if config.plain:
                server.settimeout(None)
                return DirectoryConnection(server, None)
            _start_tls(server)
        return _relayed(_encrypted(config, server, host), until)
    except TimeoutError:
        server.close()
        raise DirectoryError(
            Message(
                "{host} accepts connections on port {port} but doesn't respond. Is this an "
                "LDAP server?",
                host=host,
                port=port,
            ),
            is_away=True,
            field="url",
        ) from None
    except OSError as error:
        server.close()
        raise _explained(error, host, port) from None
    except DirectoryError:
        server.close()
        raise


def _connected(config: Config, host: str, port: int, seconds: float) -> socket.socket:
    try:
        found = list(
            dict.fromkeys(
                str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            )
        )
    except OSError:
        raise DirectoryError(
            Message(
                "Host {host} can't be resolved. Check the name and the portal's DNS.", host=host
            ),
            is_away=True,
            field="url",
        ) from None
    if not config.is_private and not all(is_open_internet(address) for address in found):
        raise DirectoryError(
            Message(
                "{host} is on a private network. Ask a platform operator to connect this "
                "directory with the option Private address.",
                host=host,
            ),
            field="is_private",
        )
    last: OSError | None = None
    for address in found[:3]:
        try:
            made = socket.create_connection(
                (address, port), timeout=max(0.05, seconds / len(found[:3]))
            )
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return made
        except OSError as error:
            last = error
    if isinstance(last, TimeoutError):
        raise DirectoryError(
            Message(
                "{host} doesn't respond on port {port}. Check the address and the firewall.",
                host=host,
                port=port,
            ),
            is_away=True,
            field="url",
        )
    raise DirectoryError(
        Message(
            "Connection to {host} port {port} failed ({x}). Check the address and the port.",
            host=host,
            port=port,
            x=last.strerror or last
            if last
            else Message("no address", context="part of a sentence"),
        ),
        is_away=True,
        field="url",
    )


def _start_tls(server: socket.socket) -> None:
    """Start TLS; refuse plaintext after the response, which an attacker could have injected."""
    server.sendall(_STARTTLS)
    answer = server.recv(4096)
    if not answer:
        raise ConnectionResetError("closed")
    if len(answer) > 2 and answer[1] < 128 and len(answer) > answer[1] + 2:
        raise DirectoryError(
            Message("The server sent data before encryption started. Use ldaps://."), field="url"
        )
    if _SUCCESS not in answer:
        raise DirectoryError(
            Message(
                "The directory doesn't support StartTLS. Configure a certificate there, or use "
                "ldaps://."
            ),
            field="url",
        )


def _encrypted(config: Config, server: socket.socket, host: str) -> ssl.SSLSocket:
    try:
        return _context(config.ca).wrap_socket(server, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        raise _certificate_error(error, host) from None
    except ssl.SSLEOFError:
        raise DirectoryError(
            Message(
                "{host} closed the connection during the TLS handshake. Check the port and the "
                "scheme.",
                host=host,
            ),
            is_away=True,
            field="url",
        ) from None
    except ssl.SSLError as error:
        raise DirectoryError(
            Message("TLS failed: {x}. Check the port and the scheme.", x=error.reason or error),
            field="url",
        ) from None


@lru_cache(maxsize=64)
def _context(ca: str) -> ssl.SSLContext:
    """Return a context that trusts the system's CAs and `ca`; cached, as loading is slow."""
    context = ssl.create_default_context()
    if ca:
        try:
            context.load_verify_locations(cadata=ca)
        except (ssl.SSLError, ValueError):
            raise DirectoryError(
                Message(
                    "The CA certificate can't be read. Paste all of it, from -----BEGIN "
                    "CERTIFICATE----- to the end."
                ),
                field="ca",
            ) from None
    return context


def _relayed(server: ssl.SSLSocket, until: float) -> DirectoryConnection:
    ours, theirs = socket.socketpair()
    line = DirectoryConnection(theirs, until)
    threading.Thread(
        target=_relay, args=(server, ours, line), name="directory-line", daemon=True
    ).start()
    return line


def _relay(server: ssl.SSLSocket, ours: socket.socket, line: DirectoryConnection) -> None:
    """Relay bytes until one side closes or the deadline passes, then close both."""
    with server, ours, contextlib.suppress(OSError):
        server.setblocking(False)
        poll = select.poll()
        poll.register(server, select.POLLIN)
        poll.register(ours, select.POLLIN)
        while (left := line.left) > 0:
            ready = {fd for fd, _ in poll.poll(left * 1000)}
            if server.fileno() in ready and not _from_server(server, ours, left):
                return
            if ours.fileno() in ready and not _to_server(server, ours, left):
                return


def _from_server(server: ssl.SSLSocket, ours: socket.socket, left: float) -> bool:
    """Relay all data available from the server; return False at the end of the stream."""
    ours.settimeout(left)
    while True:
        try:
            data = server.recv(_CHUNK)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return True
        if not data:
            return False
        ours.sendall(data)


def _to_server(server: ssl.SSLSocket, ours: socket.socket, left: float) -> bool:
    data = memoryview(ours.recv(_CHUNK))
    if not data:
        return False
    while data:
        try:
            data = data[server.send(data) :]
        except ssl.SSLWantWriteError:
            select.select([], [server], [], left)
        except ssl.SSLWantReadError:
            select.select([server], [], [], left)
    return True


def _explained(error: OSError, host: str, port: int) -> DirectoryError:
    return DirectoryError(
        Message(
            "{host} closed the connection on port {port} ({x}). Check the port and the scheme.",
            host=host,
            port=port,
            x=error.strerror or error,
        ),
        is_away=True,
        field="url",
    )


def _certificate_error(error: ssl.SSLCertVerificationError, host: str) -> DirectoryError:
    message = error.verify_message or str(error)
    if "ostname mismatch" in message or "IP address mismatch" in message:
        return DirectoryError(
            Message(
                "The certificate isn't valid for {host}. Use the host name in the certificate.",
                host=host,
            ),
            field="url",
        )
    if "expired" in message or "not yet valid" in message:
        return DirectoryError(
            Message(
                "The certificate isn't valid at this time ({said}). Renew it on the server.",
                said=message,
            ),
            field="url",
        )
    return DirectoryError(
        Message(
            "The certificate isn't trusted ({said}). Paste the certificate of the CA that "
            "signed it.",
            said=message,
        ),
        field="ca",
    )
