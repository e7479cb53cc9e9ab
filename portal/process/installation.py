"""Whether this portal belongs to its database: the same secret key, and the same home where that matters.

With another key nothing encrypted can be read; from another home the jobs of a local cluster cannot be seen, and they would be
declared lost. Hosts of one installation share the key; a home of their own is fine where no local cluster is connected.
"""

from __future__ import annotations

import hmac
import os
import platform
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from portal.process.words import Refusal

if TYPE_CHECKING:
    from portal.core.models import Installation

FILE = "home_id"  # in the home: a copy of the folder at another place is the same home
_PURPOSE = "installation"
_ADOPT = "manage.py adopt_installation"


def record_key() -> None:
    """At the first start the database gets the key's mark; later it is compared. Raises Refusal."""
    from portal.core.models import Installation

    if not Installation.objects.exists():
        _sign(Installation())
    check_key()


def check_key() -> None:
    """Raises Refusal when the database was set up with a secret key that this portal does not have."""
    from portal.core import vault
    from portal.core.models import Installation

    installation = Installation.objects.first()
    if installation is None:
        return
    if not vault.is_signed(installation.id.bytes, bytes.fromhex(installation.key_mac), _PURPOSE):
        raise Refusal(
            "The database was set up with another secret key, so what is encrypted there cannot be read.\n"
            "Give this portal the same MUSTER_SECRET_KEY (or the file secret_key in MUSTER_HOME) as the others, or the former key as\n"
            f"MUSTER_SECRET_KEY_FALLBACKS. If that key is gone for good: {_ADOPT}"
        )
    _sign(installation)


def check_home(home: Path) -> None:
    """The first home is the database's own. Raises Refusal for another one when there is a local cluster, whose jobs live in the first."""
    from portal.core.models import Installation

    installation = Installation.objects.first()
    if installation is None:
        return
    mine = {"home_id": _id_of(home), "home": f"{home} on {platform.node()}"[:500]}
    rows = Installation.objects.filter(id=installation.id)
    if rows.filter(home_id__in=["", mine["home_id"]]).update(**mine) or not _has_local_cluster():
        return
    raise Refusal(
        f"The database belongs to a portal whose home is {installation.home}, where the jobs of its local cluster live.\n"
        f"This portal's home is {home}: it would take those jobs for lost. Set MUSTER_HOME, or give this portal a database of its own.\n"
        f"To move the home, stop the portal and copy the whole folder. If the former one is gone for good: {_ADOPT}"
    )


def adopt(home: Path) -> None:
    """Record this portal's key and home as those of the database, whatever they were."""
    from portal.core.models import Installation

    installation = Installation.objects.first() or Installation()
    installation.key_mac, installation.home_id, installation.home = "", "", ""
    _sign(installation)
    check_home(home)


def _sign(installation: Installation) -> None:
    """Under the newest key, so that a former one can go."""
    from portal.core import vault

    mac = vault.sign(installation.id.bytes, _PURPOSE).hex()
    if not hmac.compare_digest(mac, installation.key_mac):
        installation.key_mac = mac
        installation.save()


def _has_local_cluster() -> bool:
    from clusters.models import Cluster
    from schedulers import backends, capabilities_of
    from schedulers.contract import Capability

    names = [name for name in backends() if Capability.PLACES in capabilities_of(name)]
    return Cluster.objects.filter(backend__in=names).exists()


def _id_of(home: Path) -> str:
    path = home / FILE
    if not path.exists():
        fresh = home / f".{FILE}.{os.getpid()}"
        fresh.write_text(uuid4().hex)
        fresh.chmod(0o600)
        with suppress(FileExistsError):
            os.link(fresh, path)  # whole or not at all
        fresh.unlink()
    return path.read_text().strip()
