"""Test the options of a cluster against Slurm, and say at which option each problem is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from portal.core.messages import Message
from portal.core.options import CheckState, ConnectionCheck, failed, failures, skipped
from schedulers.contract import DiskSpace, NodeFacts, Probe, Rejected, Unavailable
from schedulers.slurm.errors import CREDENTIALS
from schedulers.slurm.files import MountedSpool
from schedulers.slurm.interface import SlurmClient

_SLURM, _SPOOL, _USERS = (
    "Slurm",
    Message("Spool", context="text, schedulers, folder"),
    Message("Users", context="text, schedulers"),
)
_NODES, _PARTITION = (
    Message("Nodes", context="text, schedulers"),
    Message("Partition", context="text, schedulers"),
)
_ACCOUNT, _QOS, _RESERVATION = (
    Message("Account", context="text, schedulers, of Slurm"),
    "QOS",
    Message("Reservation", context="text, schedulers"),
)
_NAMED = 8  # existing partitions, accounts or QOS that a message lists


def probe(config: Any, client: Callable[[], SlurmClient], files: Any) -> Probe:
    """Make every check that can be made. Never raises Rejected or Unavailable."""
    version, nodes = "", list[NodeFacts]()

    def reach() -> str:
        nonlocal version
        version = client().version()
        return Message("Slurm {version} answers.", version=version)

    checks = [_check(config, _SLURM, reach)]
    is_reached, spool = not failures(checks), files()
    if is_reached or isinstance(spool, MountedSpool):
        checks.append(_spool(config, spool))
    else:
        checks += skipped(_SPOOL)
    rest = [
        *([_USERS] if config.user or config.users else []),
        _NODES,
        *(
            label
            for label, name in (
                (_PARTITION, config.partition),
                (_ACCOUNT, config.account),
                (_QOS, config.qos),
                (_RESERVATION, config.reservation),
            )
            if name
        ),
    ]
    if not is_reached:
        return Probe.of([*checks, *skipped(*rest)], "")
    checks += _users(config, client())
    try:
        nodes = client().nodes()
        checks.append(_counted(nodes))
    except (Rejected, Unavailable) as error:
        checks.append(failed(_NODES, str(error), _field(config, error)))
    checks += _named(config, client(), nodes)
    gpus = sum(len(node.gpus) for node in nodes)
    found = Message(
        "Slurm {version}: {nodes} nodes, {gpus} GPUs.",
        version=version,
        nodes=len(nodes),
        gpus=gpus,
    )
    disk = next(check for check in checks if check.label == _SPOOL)
    text = Message.joined(" ", (found, disk.message if disk.state == CheckState.OK else ""))
    return Probe.of(checks, text, version)


def _check(config: Any, label: str, make: Callable[[], str], field: str = "") -> ConnectionCheck:
    try:
        return ConnectionCheck(label, message=make())
    except (Rejected, Unavailable) as error:
        return failed(label, error.args[0] if error.args else "", field or _field(config, error))


def _field(config: Any, error: Rejected | Unavailable) -> str:
    """Return the option that most likely causes an error."""
    if error.field == CREDENTIALS or not error.field:
        if not config.rest_url:
            return "ssh_host" if config.ssh_host else "conf"
        if error.field == CREDENTIALS:
            return "rest_key" if config.rest_key else "rest_token"
        return "rest_url"
    return error.field


def _spool(config: Any, files: Any) -> ConnectionCheck:
    try:
        disk: DiskSpace = files.space()
    except (Rejected, Unavailable) as error:
        return failed(_SPOOL, error.args[0], error.field or "spool")
    if disk.warning:
        return ConnectionCheck(_SPOOL, CheckState.WARNING, disk.warning, "spool")
    return ConnectionCheck(_SPOOL, message=disk.text)


def _users(config: Any, client: SlurmClient) -> Iterator[ConnectionCheck]:
    if config.user:
        yield _check(config, _USERS, lambda: _owner(client, config.user), "user")
    for user in config.users:
        yield _check(config, _USERS, lambda user=user: _further(client, user), "users")  # type: ignore[misc]


def _owner(client: SlurmClient, user: str) -> str:
    client.check_owner(user)
    return user


def _further(client: SlurmClient, user: str) -> str:
    client.check_user(user)
    return user


def _counted(nodes: Sequence[NodeFacts]) -> ConnectionCheck:
    if not nodes:
        text = Message("Slurm has no nodes. Add some to slurm.conf.")
        return ConnectionCheck(_NODES, CheckState.WARNING, text)
    gpus = sum(len(node.gpus) for node in nodes)
    text = Message("{nodes} nodes, {gpus} GPUs.", nodes=len(nodes), gpus=gpus)
    return ConnectionCheck(_NODES, message=text)


def _named(
    config: Any, client: SlurmClient, nodes: Sequence[NodeFacts]
) -> Iterator[ConnectionCheck]:
    """Yield a check for each name that Slurm must know."""
    if config.partition:
        known = {name for node in nodes for name in node.partitions}
        for one in config.partition.split(","):
            yield _known(_PARTITION, "partition", one, known)
    if config.account or config.qos:
        try:
            limits = client.limits()
        except (Rejected, Unavailable):  # without accounting, Slurm accepts any
            return
        if config.account:
            known = {assoc.account for assoc in limits.assocs}
            yield _known(_ACCOUNT, "account", config.account, known)
        if config.qos:
            yield _known(_QOS, "qos", config.qos, set(limits.qos))
    if config.reservation:
        try:
            facts = client.reservations("")
        except (Rejected, Unavailable):  # slurmrestd before v0.0.43 does not tell
            return
        known = {fact.name for fact in facts}
        yield _known(_RESERVATION, "reservation", config.reservation, known)


def _known(label: str, field: str, name: str, known: set[str]) -> ConnectionCheck:
    if name in known:
        return ConnectionCheck(label, message=name)
    names = ", ".join(sorted(known)[:_NAMED])
    return failed(
        label,
        Message("Slurm has no {name}. Choose one of {names}.", name=repr(name[:80]), names=names)
        if names
        else Message("Slurm has no {name}. Leave it empty.", name=repr(name[:80])),
        field,
    )
