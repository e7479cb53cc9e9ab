"""Where the portal may connect to when somebody else said where: whoever types an address chooses that.

So: only to addresses of the open internet, and to the hosts that an operator named; the address that was judged is the address
that is used, and no name is resolved twice. Knows no Django, so that every part may use it.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from typing import Any

_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def is_open_internet(address: str) -> bool:
    """Not this machine, not its link, not a private network; nor one of those in an IPv6 coat."""
    found: Any = ipaddress.ip_address(address.partition("%")[0])
    if found.version == 6:
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo and found.teredo[1])
        if inner is None and found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        found = inner or found
    return bool(found.is_global and not found.is_multicast)


class NotOpen(Exception):
    """The host has no address that may be connected to."""


def allowed(host: str, port: int, *, is_trusted: bool, kind: int = socket.SOCK_STREAM) -> list[tuple[Any, ...]]:
    """What the name stands for now, as `socket` takes it, without what may not be reached. Raises NotOpen, and OSError where the
    name cannot be resolved."""
    found = [info[4] for info in socket.getaddrinfo(host, port, type=kind)]
    reachable = found if is_trusted else [one for one in found if is_open_internet(str(one[0]))]
    if not reachable:
        raise NotOpen(f"{host} is not on the open internet")
    return reachable


def connect(host: str, port: int, *, is_trusted: bool, seconds: float, tls: ssl.SSLContext | None = None) -> socket.socket:
    """A connection, with TLS under the host's name where a context is given. Raises NotOpen, OSError."""
    sock = socket.create_connection(allowed(host, port, is_trusted=is_trusted)[0][:2], timeout=seconds)
    if tls is None:
        return sock
    try:
        return tls.wrap_socket(sock, server_hostname=host)
    except BaseException:
        sock.close()
        raise


def tls_context(ca_file: str = "") -> ssl.SSLContext:
    """The system's certificates, and those of a file besides."""
    context = ssl.create_default_context()
    if ca_file:
        context.load_verify_locations(ca_file)
    return context
