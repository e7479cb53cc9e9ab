"""Answer the gateway's questions with Muster's permissions and backends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.template.loader import render_to_string

from clusters.backends import backend_of
from jobs.kinds.workload_kinds import kind_of, page_of
from jobs.models import Attempt, PortActivity
from jobs.ports import addresses, handover, ssh
from jobs.ports.access import OpenPort, find_port, find_port_for_portal
from jobs.ports.activity import record_uses
from jobs.ports.people import record_people
from jobs.selectors.representations import reason_of
from jobs.web.reading import last_lines
from portal.core.errors import NotAuthenticated, NotFound, PortalError, Unavailable
from portal.core.messages import Message
from portal.core.models import Event
from portal.core.outage import outage
from portal.gateway.provider import (
    Address,
    Credential,
    Grant,
    NotReady,
    NotServing,
    PortUse,
    ShellKeys,
    Target,
)
from schedulers.contract import PortProtocol, Rejected
from schedulers.contract import Unavailable as ClusterUnavailable
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.credentials.token_format import authenticate_token
from workspaces.identity.connections import BySession, ByToken
from workspaces.models import Organization
from workspaces.tenancy.scope import org_scope, platform_scope, request_scope

F = TypeVar("F", bound=Callable[..., Any])
# Events after which the gateway checks all open connections at once. Others, such as the end of a job or
# a rule about addresses, are found by its regular check.
_ENDING_ACCESS = (
    *("impersonation.", "interactive.", "member.", "provider.", "role.", "service_account."),
    *("session.ended", "sign_in.ended", "team_member.", "token.revoked", "token.rotated"),
)


def _entry(method: F) -> F:
    """Run a method as an entry point, which has no scope yet, and report outages as such."""

    @wraps(method)
    def run(*args: Any) -> Any:
        try:
            with request_scope():
                return method(*args)
        except PortalError:
            raise
        except Exception as error:
            if (away := outage(error)) is not None:
                raise Unavailable(str(away)) from error
            raise

    return run  # type: ignore[return-value]


class PortProvider:
    """`portal.gateway.provider.Provider` for the ports of jobs."""

    @_entry
    def admit(self, address: Address, credential: Credential) -> Grant:
        actor, scope = _enter(address, credential)
        is_own = actor is None
        with scope:
            found = _find(actor, address)
            state = State(found.attempt.state)
            if state.is_final:
                raise NotServing(_ended(found))
            if state not in (State.RUNNING, State.STOPPING):
                raise NotReady(Message("Job #{number} has not started.", number=found.job.number))
            key, number, person = (
                found.attempt.key,
                found.number,
                str(actor.user_id) if actor else "",
            )
            if found.port.protocol is PortProtocol.SSH:
                secret = ssh.shell_secret(key)
                return Grant(key, number, person, f"token {secret}", shell=secret)
            return Grant(
                key,
                number,
                person,
                kind_of(found.job).authorization(found.job),
                is_counted=not is_own,
                is_read_only=found.share is not None and found.share.is_read_only,
                posts=found.share.posts if found.share else (),
            )

    @_entry
    def locate(self, grant: Grant) -> Target:
        attempt = _attempt(grant.key)
        backend: Any = backend_of(attempt.cluster)
        try:
            endpoint = backend.endpoint(grant.key, grant.port)
        except Rejected as error:
            if _has_answered(attempt, grant.port):
                raise NotServing(str(error)) from error
            raise NotReady(str(error)) from error
        except ClusterUnavailable as error:
            raise Unavailable(str(error)) from error
        return Target(endpoint.host, endpoint.port, endpoint.connect)

    @_entry
    def is_starting(self, grant: Grant) -> bool:
        return not _has_answered(_attempt(grant.key), grant.port)

    def portal_address(self, address: Address, nonce: str, path: str, *, is_below: bool) -> str:
        if is_below and not addresses.is_below(address):
            return addresses.page_of(address)
        query = {"nonce": nonce, "path": path, **({"task": address.task} if address.task else {})}
        page = f"/{address.org}/jobs/{address.number}/ports/{address.name}"
        return f"{settings.MUSTER_BASE_URL}{page}?{urlencode(query)}"

    @_entry
    def redeem(self, code: str, nonce: str, address: Address) -> tuple[str, str]:
        return handover.use_code(code, address=address, nonce=nonce)

    @_entry
    def shell_keys(self, grant: Grant) -> ShellKeys:
        with platform_scope("the gateway has checked who asks"):
            ssh.record_use(_attempt(grant.key), UUID(grant.person))
        return ssh.keys_of(UUID(grant.person))

    @_entry
    def tunnel_key(self, token: str, client: str) -> str:
        actor = authenticate_token(token, client)
        attempt_id = actor.token.attempt_id if actor and actor.token else None
        if attempt_id is None:
            raise NotAuthenticated(Message("Only the token of a running job opens its tunnel."))
        with platform_scope("find the attempt of a token"):
            attempt = Attempt.objects.filter(id=attempt_id).first()
        if attempt is None or State(attempt.state).is_final:
            raise NotAuthenticated(Message("The job of this token has ended."))
        return attempt.key

    @_entry
    def page(self, address: Address, credential: Credential, error: PortalError) -> bytes:
        context: dict[str, Any] = {
            "error": error,
            "base_url": settings.MUSTER_BASE_URL,
            "is_waiting": error.retryable,
        }
        if isinstance(error, NotServing):
            actor, scope = _enter(address, credential)
            with scope:
                found = _find(actor, address)
                number, state = found.job.number, State(found.attempt.state)
                context |= {
                    "number": number,
                    "name": found.job.name,
                    "has_ended": state.is_final,
                    "page_url": f"{settings.MUSTER_BASE_URL}{page_of(found.job)}",
                    "may_restart": bool(kind_of(found.job).origin) and not state.is_final,
                    "log_url": f"{settings.MUSTER_BASE_URL}/{address.org}/jobs/{number}?tab=logs",
                    "state": "" if kind_of(found.job).origin else state.label,
                    "reason": reason_of(found.attempt.reason, found.attempt.evidence),
                    "lines": last_lines(found.attempt),
                }
        return render_to_string("gateway/unreachable.html", context).encode()

    @_entry
    def record(self, uses: Sequence[PortUse]) -> None:
        record_uses(uses)
        record_people(uses)

    @_entry
    def access_changes(self, since: int) -> tuple[int, bool]:
        with platform_scope("the gateway follows what may end access to any port"):
            rows = Event.objects.order_by("-position")
            newest = rows.values_list("position", flat=True).first() or 0
            if not since or newest <= since:
                return newest, False
            kinds = set(rows.filter(position__gt=since).values_list("kind", flat=True))
        return newest, any(kind.startswith(_ENDING_ACCESS) for kind in kinds)


def _enter(
    address: Address, credential: Credential
) -> tuple[Actor | None, AbstractContextManager[Any]]:
    """Return the actor in the organization of the address, None for the portal itself, and the scope.

    Raises NotAuthenticated, NotFound.
    """
    if credential.ticket and handover.is_own(credential.ticket, address):
        return None, org_scope(_organization(address).id)
    actor: Actor | None
    if credential.token:
        actor = ByToken(credential.token, credential.client).actor()
    else:
        actor = BySession(handover.session_of(credential.ticket, address)).actor()
    if actor is None:
        raise NotAuthenticated(Message("Your session or token has ended."))
    org = _organization(address)
    return actor.enter(org), org_scope(org.id)


def _find(actor: Actor | None, address: Address) -> OpenPort:
    return find_port(actor, address) if actor else find_port_for_portal(address)


def _organization(address: Address) -> Organization:
    org = Organization.objects.filter(slug=address.org).first()
    if org is None:
        raise NotFound(Message("There is nothing at this address."))
    return org  # type: ignore[no-any-return]


def _attempt(key: str) -> Attempt:
    with platform_scope("the gateway has checked who asks"):
        pk = UUID(key.removeprefix("muster-"))
        return Attempt.objects.select_related("cluster").get(id=pk)  # type: ignore[no-any-return]


def _has_answered(attempt: Attempt, port: int) -> bool:
    with platform_scope("the gateway has checked who asks"):
        rows = PortActivity.objects.filter(attempt=attempt, port=port)
        return rows.exclude(answered_at=None).exists()


def _ended(found: OpenPort) -> str:
    return kind_of(found.job).ended.format(
        number=found.job.number, state=State(found.attempt.state).label
    )
