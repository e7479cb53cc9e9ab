"""Check that this portal belongs to its database: same secret key, and same home if it matters.

With another key, encrypted values cannot be read. From another home, the jobs of a local cluster
are not visible and would be declared lost. Hosts of one installation share the key; each may have
its own home unless a local cluster is connected.
"""

from __future__ import annotations

import hmac
import os
import platform
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from django.conf import settings

from clusters.models import Cluster
from portal.core import vault
from portal.core.models import Installation
from portal.process.home_place import adopt as adopt_place
from portal.process.home_place import check_place
from portal.process.words import Refusal
from schedulers import backends, capabilities_of
from schedulers.contract import Capability

FILE = "home_id"  # in the home, so that a copied folder counts as the same home
_PURPOSE = "installation"
_ADOPT = "manage.py adopt_installation"


def record_key() -> None:
    """Record a MAC of the key on the first start, and compare it later. Raises Refusal."""
    if not Installation.objects.exists():
        _sign(Installation())
    check_key()


def check_key() -> None:
    """Raise Refusal if the database was set up with a secret key that this portal does not have."""
    installation = Installation.objects.first()
    if installation is None:
        return
    if not vault.is_signed(installation.id.bytes, bytes.fromhex(installation.key_mac), _PURPOSE):
        raise Refusal(
            "The database was set up with another secret key; its secrets cannot be decrypted.\n"
            "Set the MUSTER_SECRET_KEY (or copy the file secret_key in MUSTER_HOME) of the other\n"
            "processes, or add the former key to MUSTER_SECRET_KEY_FALLBACKS.\n"
            f"If that key is gone for good: {_ADOPT}"
        )
    _sign(installation)


def check_bucket() -> None:
    """Raise Refusal if the settings of the bucket for stored files contradict each other."""
    if bool(settings.MUSTER_S3_ACCESS_KEY) != bool(settings.MUSTER_S3_SECRET_KEY):
        raise Refusal("Set MUSTER_S3_ACCESS_KEY and MUSTER_S3_SECRET_KEY together.")
    if settings.MUSTER_S3_PUBLIC_URL and not settings.MUSTER_S3_ACCESS_KEY:
        raise Refusal(
            "MUSTER_S3_PUBLIC_URL needs MUSTER_S3_ACCESS_KEY and MUSTER_S3_SECRET_KEY, which sign\n"
            "the addresses of downloads."
        )


def check_home(home: Path) -> None:
    """Bind the database to the first home.

    Raises Refusal for a copy of a home, and for another home if there is a local cluster, whose
    jobs live in the first one.
    """
    installation = Installation.objects.first()
    check_place(home, installation.home if installation else "")
    if installation is None:
        return
    mine = {"home_id": _id_of(home), "home": f"{home} on {platform.node()}"[:500]}
    rows = Installation.objects.filter(id=installation.id)
    if rows.filter(home_id__in=["", mine["home_id"]]).update(**mine) or not _has_local_cluster():
        return
    raise Refusal(
        f"The database belongs to a portal whose home is {installation.home}.\n"
        "The jobs of its local cluster live there.\n"
        f"This portal's home is {home}: it would mark those jobs as lost.\n"
        "Set MUSTER_HOME, or use another database for this portal.\n"
        "To move the home, stop the portal and copy the whole folder.\n"
        f"If the former home is gone for good: {_ADOPT}"
    )


def adopt(home: Path) -> None:
    """Bind the database to this portal's key and home, replacing the former ones."""
    adopt_place(home)
    installation = Installation.objects.first() or Installation()
    installation.key_mac, installation.home_id, installation.home = "", "", ""
    _sign(installation)
    check_home(home)


def _sign(installation: Installation) -> None:
    """Sign with the newest key, so that a former one can be removed."""
    mac = vault.sign(installation.id.bytes, _PURPOSE).hex()
    if not hmac.compare_digest(mac, installation.key_mac):
        installation.key_mac = mac
        installation.save()


def _has_local_cluster() -> bool:
    names = [name for name in backends() if Capability.PLACES in capabilities_of(name)]
    return Cluster.objects.filter(backend__in=names).exists()


def _id_of(home: Path) -> str:
    path = home / FILE
    if not path.exists():
        fresh = home / f".{FILE}.{os.getpid()}"
        fresh.write_text(uuid4().hex)
        fresh.chmod(0o600)
        with suppress(FileExistsError):
            os.link(fresh, path)  # atomic
        fresh.unlink()
    return path.read_text().strip()
