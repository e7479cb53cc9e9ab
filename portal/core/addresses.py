"""Decide which addresses the portal may connect to when a user supplied the host (SSRF protection).

Connections go only to global unicast addresses, and to hosts that an operator allowed. The checked
address is the one that is used: no name is resolved twice. Does not depend on Django.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from typing import Any

_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")  # the only range that IANA has allocated
# The well-known prefix (RFC 6052); the embedded IPv4 address decides.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# RFC 9637, unknown to `ipaddress` before Python 3.13.
_DOCUMENTATION = ipaddress.ip_network("3fff::/20")
# RFC 5214: precedes the IPv4 address in the interface identifier.
_ISATAP = 0x5EFE


def is_open_internet(address: str) -> bool:
    """Return whether the address and all IPv4 addresses embedded in it are global unicast."""
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
    """Return the IPv4 addresses in a mapped, NAT64, 6to4, Teredo or ISATAP address."""
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


class AddressNotAllowed(Exception):
    """The host has no address that the portal may connect to."""


def resolve_allowed(
    host: str, port: int, *, is_trusted: bool, kind: int = socket.SOCK_STREAM
) -> list[tuple[Any, ...]]:
    """Resolve a host and return the `socket` addresses that may be reached.

    Raises AddressNotAllowed if none remains, and OSError if the name cannot be resolved.
    """
    found = [info[4] for info in socket.getaddrinfo(host, port, type=kind)]
    reachable = found if is_trusted else [one for one in found if is_open_internet(str(one[0]))]
    if not reachable:
        raise AddressNotAllowed(f"{host} is not on the open internet")
    return reachable


def connect(
    host: str, port: int, *, is_trusted: bool, seconds: float, tls: ssl.SSLContext | None = None
) -> socket.socket:
    """Open a TCP connection, with TLS under the host's name if a context is given.

    Raises AddressNotAllowed and OSError.
    """
    sock = socket.create_connection(
        resolve_allowed(host, port, is_trusted=is_trusted)[0][:2], timeout=seconds
    )
    if tls is None:
        return sock
    try:
        return tls.wrap_socket(sock, server_hostname=host)
    except BaseException:
        sock.close()
        raise


def tls_context(ca_file: str = "") -> ssl.SSLContext:
    """Return a TLS context that trusts the system's certificates and those in a file."""
    context = ssl.create_default_context()
    if ca_file:
        context.load_verify_locations(ca_file)
    return context
