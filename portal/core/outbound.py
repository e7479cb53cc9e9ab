"""Connecting to where somebody else said: whoever types an address chooses where the portal connects to.

So: only to addresses of the open internet, and to the hosts that the operator named; the address that was judged is the address
that is used, and no name is resolved twice. Knows no Django, so that every part may use it.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from typing import Any


class Refused(Exception):
    """The host has no address that may be connected to."""


def addresses(host: str, port: int, *, is_trusted: bool, kind: int = socket.SOCK_STREAM) -> list[tuple[Any, ...]]:
    """What the name stands for now, as `socket` takes it, without what may not be reached. Raises Refused, and OSError where the
    name cannot be resolved."""
    found = [info[4] for info in socket.getaddrinfo(host, port, type=kind)]
    allowed = found if is_trusted else [one for one in found if is_open_internet(str(one[0]))]
    if not allowed:
        raise Refused(f"{host} is not on the open internet")
    return allowed


def connect(host: str, port: int, *, is_trusted: bool, seconds: float, tls: ssl.SSLContext | None = None) -> socket.socket:
    """A connection, with TLS under the host's name where a context is given. Raises Refused, OSError."""
    sock = socket.create_connection(addresses(host, port, is_trusted=is_trusted)[0][:2], timeout=seconds)
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


def is_open_internet(address: str) -> bool:
    """Not this machine, not its link, not a private network; nor one of those in an IPv6 coat."""
    found: Any = ipaddress.ip_address(address.partition("%")[0])
    if found.version == 6:
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo and found.teredo[1])
        if inner is None and found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        found = inner or found
    return bool(found.is_global and not found.is_multicast)


_NAT64 = ipaddress.ip_network("64:ff9b::/96")
