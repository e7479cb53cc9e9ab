"""Where the portal may connect to when somebody else said where: whoever types an address chooses that.

So: only to addresses of the open internet, and to the hosts that an operator named; the address that was judged is the address
that is used, and no name is resolved twice. Knows no Django, so that every part may use it.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from typing import Any

_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")  # all that IANA has ever given out
_NAT64 = ipaddress.ip_network(
    "64:ff9b::/96"
)  # the well-known prefix (RFC 6052); its IPv4 address decides
_DOCUMENTATION = ipaddress.ip_network(
    "3fff::/20"
)  # RFC 9637, unknown to `ipaddress` before Python 3.13
_ISATAP = 0x5EFE  # RFC 5214: before the IPv4 address in the interface identifier


def is_open_internet(address: str) -> bool:
    """Whether it is globally reachable unicast, with every IPv4 address that an IPv6 address carries."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = _embedded(found)
        if found in _GLOBAL_UNICAST and found not in _DOCUMENTATION:
            return found.is_global and all(map(_is_global, inner))
        return (found.ipv4_mapped is not None or found in _NAT64) and all(map(_is_global, inner))
    return _is_global(found)


def _is_global(found: ipaddress.IPv4Address) -> bool:
    return found.is_global and not found.is_multicast


def _embedded(found: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """Of a mapped, NAT64, 6to4, Teredo or ISATAP address."""
    low = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
    is_low = (
        found.ipv4_mapped is not None
        or found in _NAT64
        or (int(found) >> 32) & 0xFDFFFFFF == _ISATAP
    )
    return [
        *([low] if is_low else []),
        *([found.sixtofour] if found.sixtofour else []),
        *(found.teredo or ()),
    ]


class NotOpen(Exception):
    """The host has no address that may be connected to."""


def allowed(
    host: str, port: int, *, is_trusted: bool, kind: int = socket.SOCK_STREAM
) -> list[tuple[Any, ...]]:
    """What the name stands for now, as `socket` takes it, without what may not be reached. Raises NotOpen, and OSError where the
    name cannot be resolved."""
    found = [info[4] for info in socket.getaddrinfo(host, port, type=kind)]
    reachable = found if is_trusted else [one for one in found if is_open_internet(str(one[0]))]
    if not reachable:
        raise NotOpen(f"{host} is not on the open internet")
    return reachable


def connect(
    host: str, port: int, *, is_trusted: bool, seconds: float, tls: ssl.SSLContext | None = None
) -> socket.socket:
    """A connection, with TLS under the host's name where a context is given. Raises NotOpen, OSError."""
    sock = socket.create_connection(
        allowed(host, port, is_trusted=is_trusted)[0][:2], timeout=seconds
    )
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
