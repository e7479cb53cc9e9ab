"""Which addresses are of the open internet."""

from __future__ import annotations

import ipaddress
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
