"""Parse and match the networks (CIDRs) a token may be used from. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from functools import lru_cache

from portal.core.errors import InvalidInput
from portal.core.messages import Message

MAX_NETWORKS = 50
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def parse_networks(texts: Iterable[str]) -> list[str]:
    """Return networks in canonical form without duplicates.

    `10.1.2.3/16` becomes 10.1.0.0/16; a single address is a network of one. Raises InvalidInput.
    """
    found: dict[str, None] = {}
    for text in texts:
        try:
            found[str(_network(text.strip()))] = None
        except ValueError:
            raise InvalidInput.at(
                "networks",
                Message(
                    "{text} is no network; write 10.20.0.0/16, 2001:db8::/32 or one address",
                    text=repr(text[:60]),
                ),
            ) from None
    if len(found) > MAX_NETWORKS:
        raise InvalidInput.at(
            "networks", f"has {len(found)} entries; at most {MAX_NETWORKS} are allowed"
        )
    return list(found)


def is_within(address: str, networks: Iterable[str]) -> bool:
    """Return whether the address is in a network.

    Without networks every address is. An unknown address is in none.
    """
    networks = list(networks)
    if not networks:
        return True
    try:
        host = _host(address)
    except ValueError:
        return False
    return any(
        host.version == (network := _network(text)).version and host in network for text in networks
    )


def are_within(inner: Iterable[str], outer: Iterable[str]) -> bool:
    """Return whether `outer` contains every address of `inner`; empty means every address."""
    inner, outer = list(inner), list(outer)
    if not outer:
        return True
    return bool(inner) and all(any(_covers(_network(o), _network(i)) for o in outer) for i in inner)


def _covers(outer: _Network, inner: _Network) -> bool:
    return outer.version == inner.version and inner.subnet_of(outer)  # type: ignore[arg-type]


def _host(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Parse an address, unwrapping IPv4 from dual-stack sockets (::ffff:10.0.0.1)."""
    host = ipaddress.ip_address(address.partition("%")[0])
    return getattr(host, "ipv4_mapped", None) or host


@lru_cache(maxsize=1024)
def _network(text: str) -> _Network:
    return ipaddress.ip_network(text, strict=False)
