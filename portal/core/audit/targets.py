"""Deliver events to webhooks and syslog servers. Failures raise DeliveryFailed.

A webhook receives up to a hundred events in one POST and must respond with 2xx. The request is
signed (`Muster-Signature: t=…,v1=…`, HMAC-SHA256 over time, a dot and the body) and identified
(`Muster-Delivery: <forward>:<first>-<last>`), because it may be delivered twice. Syslog is RFC
5424, one event per message: over TCP and TLS with octet counting (RFC 6587, 5425), over UDP as
datagrams, which may be lost.
"""

from __future__ import annotations

import hmac
import select
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

import orjson
import requests

from portal.core import addresses, outbound
from portal.core.outbound import OutboundPolicy, Session

SCHEMES = ("https", "http", "syslog+tls", "syslog+tcp", "syslog+udp")
_PORTS = {"https": 443, "http": 80, "syslog+tls": 6514, "syslog+tcp": 514, "syslog+udp": 514}
LONGEST = 8192  # bytes of a datagram
_AUDIT, _NOTICE, _WARNING = 13, 5, 4
_SD_ID = "muster@32473"  # RFC 5612: the enterprise number for examples

Fact = Mapping[str, Any]


class DeliveryFailed(Exception):
    """The delivery failed, or its result is unknown."""


@dataclass(frozen=True)
class ForwardPolicy:
    """Restrictions on targets.

    `trusted` hosts (with port, if any) were named by the operator. They may have private addresses,
    and only they may be reached over plain HTTP, or over UDP or TCP without TLS.
    """

    trusted: frozenset[str] = frozenset()
    ca_file: str = ""
    seconds: float = 10.0
    portal: str = "muster"  # host name of this installation in syslog messages


def parse_target(target: str) -> SplitResult:
    """Parse a target. Raises ValueError for an invalid one."""
    found = urlsplit(target)
    port = found.port
    if (
        found.scheme not in SCHEMES
        or not found.hostname
        or found.username is not None
        or found.fragment
        or port == 0
    ):
        raise ValueError(
            "it is https://host/path, or syslog+tls://host:port, syslog+tcp:// or syslog+udp://, "
            "without a password in it"
        )
    if found.scheme.startswith("syslog") and (found.path not in ("", "/") or found.query):
        raise ValueError("a syslog server has no path")
    return found


def is_trusted(target: str, policy: ForwardPolicy) -> bool:
    at = parse_target(target)
    return bool({at.netloc.lower(), at.hostname} & policy.trusted)


def deliver(
    target: str, facts: Sequence[Fact], *, name: str, secret: bytes, policy: ForwardPolicy
) -> None:
    """Deliver the events in order. Raises DeliveryFailed."""
    at = parse_target(target)
    if at.scheme not in {"https", "syslog+tls"} and not is_trusted(target, policy):
        raise DeliveryFailed(
            f"{at.hostname} would be told without encryption, which the operator has not allowed "
            "(MUSTER_FORWARD_TARGETS)"
        )
    send = {"https": _webhook, "http": _webhook, "syslog+udp": _datagrams}.get(at.scheme, _stream)
    try:
        send(at, facts, name, secret, policy)
    except (addresses.AddressNotAllowed, outbound.AddressRefused) as error:
        raise DeliveryFailed(
            f"{at.hostname} is not on the open internet; "
            "an operator may name it in MUSTER_FORWARD_TARGETS"
        ) from error
    except (ssl.SSLError, requests.exceptions.SSLError) as error:
        raise DeliveryFailed(
            f"{at.hostname}: its certificate is not trusted, or it speaks no TLS "
            f"({outbound.tls_reason(error)})"
        ) from error
    except (TimeoutError, outbound.DeadlineExceeded) as error:
        raise DeliveryFailed(f"{at.hostname} did not answer within {policy.seconds:g} s") from error
    except OSError as error:
        raise DeliveryFailed(f"{at.hostname} does not answer") from error


def signature(secret: bytes, at: int, body: bytes) -> str:
    """Return the signature header, which the receiver computes as well."""
    return f"t={at},v1={hmac.new(secret, f'{at}.'.encode() + body, 'sha256').hexdigest()}"


def message(fact: Fact, host: str) -> bytes:
    """Format an event per RFC 5424: searchable parts as structured data, and all of it as JSON."""
    severity = _WARNING if fact["kind"] in {"access.denied", "sign_in.failed"} else _NOTICE
    parts = {
        "seq": fact["seq"],
        "actor": fact["actor"],
        "address": fact["address"],
        "request": fact["request_id"],
        "hash": fact["hash"],
    }
    data = " ".join(
        f'{key}="{_escaped(str(value))}"' for key, value in parts.items() if value not in ("", None)
    )
    head = (
        f"<{_AUDIT * 8 + severity}>1 {fact['at'].isoformat()} {host} muster - {fact['kind'][:32]} "
        f"[{_SD_ID} {data}] "
    )
    return head.encode() + b"\xef\xbb\xbf" + orjson.dumps(dict(fact))


def _webhook(
    at: SplitResult, facts: Sequence[Fact], name: str, secret: bytes, policy: ForwardPolicy
) -> None:
    body, now = orjson.dumps({"events": [dict(fact) for fact in facts]}), int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "muster-audit",
        "Muster-Delivery": f"{name}:{facts[0]['seq']}-{facts[-1]['seq']}",
    }
    if secret:
        headers["Muster-Signature"] = signature(secret, now, body)
    trusts = is_trusted(at.geturl(), policy)
    limits = OutboundPolicy(
        is_private=trusts, is_plain=trusts, ca_file=policy.ca_file, seconds=policy.seconds
    )
    with Session(limits) as session:
        answer = session.post(at.geturl(), data=body, headers=headers)
    if not 200 <= answer.status_code < 300:
        raise DeliveryFailed(f"{at.hostname} answered {answer.status_code}")


def _stream(
    at: SplitResult, facts: Sequence[Fact], name: str, secret: bytes, policy: ForwardPolicy
) -> None:
    """Send over TCP or TLS. The only sign of failure is that the server closes the connection."""
    with _connected(at, policy) as sock:
        sock.sendall(
            b"".join(
                str(len(text)).encode() + b" " + text
                for text in (message(fact, policy.portal) for fact in facts)
            )
        )
        if isinstance(sock, ssl.SSLSocket):
            return
        sock.shutdown(socket.SHUT_WR)
        if select.select([sock], [], [], 0.05)[0]:
            sock.recv(1)  # raises if the connection was reset


def _datagrams(
    at: SplitResult, facts: Sequence[Fact], name: str, secret: bytes, policy: ForwardPolicy
) -> None:
    where = addresses.resolve_allowed(
        at.hostname or "",
        _port(at),
        is_trusted=is_trusted(at.geturl(), policy),
        kind=socket.SOCK_DGRAM,
    )[0]
    with socket.socket(
        socket.AF_INET6 if ":" in str(where[0]) else socket.AF_INET, socket.SOCK_DGRAM
    ) as sock:
        sock.settimeout(policy.seconds)
        sock.connect(where[:2])  # so that ICMP errors are reported
        for fact in facts:
            sock.send(message(fact, policy.portal)[:LONGEST])


def _connected(at: SplitResult, policy: ForwardPolicy) -> socket.socket:
    tls = addresses.tls_context(policy.ca_file) if at.scheme in {"https", "syslog+tls"} else None
    return addresses.connect(
        at.hostname or "",
        _port(at),
        is_trusted=is_trusted(at.geturl(), policy),
        seconds=policy.seconds,
        tls=tls,
    )


def _port(at: SplitResult) -> int:
    return at.port or _PORTS[at.scheme]


def _escaped(text: str) -> str:
    text = "".join(char if char.isprintable() else " " for char in text)
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("]", "\\]")
