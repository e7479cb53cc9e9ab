"""A private OpenLDAP on loopback, with StartTLS and LDAPS under its own CA, and memberOf.

It holds a company with nested groups, the same in the schema of Active Directory, and as many
generated users as a test wants. Anonymous reads are refused.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.rig.processes import Folder, RigFailure, free_ports, is_listening, program, wait_until

BASE, AD = "dc=corp,dc=example", "dc=ad,dc=example"
READER, READER_PASSWORD = f"cn=reader,{BASE}", "reader's own password"
ADMIN, ADMIN_PASSWORD = f"cn=admin,{BASE}", "admin's own password"
GROUPS_OF_EACH = 3

# Only the attributes that we use: OpenLDAP's own schema of Active Directory has no matching rules
# and cannot be searched.
_AD_SCHEMA = """
attributetype ( 1.3.6.1.4.1.55555.1.1 NAME 'sAMAccountName' EQUALITY caseIgnoreMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE )
attributetype ( 1.3.6.1.4.1.55555.1.2 NAME 'userPrincipalName' EQUALITY caseIgnoreMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE )
attributetype ( 1.3.6.1.4.1.55555.1.3 NAME 'objectGUID' EQUALITY octetStringMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 SINGLE-VALUE )
attributetype ( 1.3.6.1.4.1.55555.1.4 NAME 'userAccountControl' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
attributetype ( 1.3.6.1.4.1.55555.1.5 NAME 'objectCategory' EQUALITY caseIgnoreMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE )
objectclass ( 1.3.6.1.4.1.55555.2.1 NAME 'user' SUP inetOrgPerson STRUCTURAL
  MAY ( sAMAccountName $ userPrincipalName $ objectGUID $ userAccountControl $ objectCategory ) )
objectclass ( 1.3.6.1.4.1.55555.2.2 NAME 'group' SUP top STRUCTURAL MUST cn MAY ( member $ sAMAccountName $ objectGUID ) )
"""
_CONF = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
include {path}/ad.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
pidfile {path}/slapd.pid
TLSCACertificateFile {path}/ca.pem
TLSCertificateFile {path}/cert.pem
TLSCertificateKeyFile {path}/key.pem
database mdb
suffix "{base}"
rootdn "{admin}"
rootpw "{admin_password}"
directory {path}/corp
maxsize 1073741824
dbnosync
index objectClass,uid,mail,entryUUID,member,memberUid,uniqueMember eq
index cn eq,sub
sizelimit 500
limits dn.exact="{reader}" size.prtotal=unlimited
access to attrs=userPassword by anonymous auth by * none
access to * by users read
overlay memberof
database mdb
suffix "{ad}"
rootdn "{admin}"
directory {path}/ad
maxsize 268435456
dbnosync
index objectClass,sAMAccountName,userPrincipalName,mail,member,objectGUID eq
sizelimit 500
limits dn.exact="{reader}" size.prtotal=unlimited
access to attrs=userPassword by anonymous auth by * none
access to * by users read
"""
Entry = tuple[str, Mapping[str, Any]]


def people_dn(uid: str) -> str:
    return f"uid={uid},ou=people,{BASE}"


def group_dn(name: str) -> str:
    return f"cn={name},ou=groups,{BASE}"


def password_of(uid: str) -> str:
    return f"{uid}'s own password"


@dataclass
class Slapd:
    """A running server; `ca` is the certificate of its CA (PEM)."""

    port: int
    tls_port: int
    ca: str
    path: Path
    folder: Folder = field(repr=False)
    process: Any = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"ldap://127.0.0.1:{self.port}"

    @property
    def ldaps(self) -> str:
        return f"ldaps://127.0.0.1:{self.tls_port}"

    def options(self, **more: Any) -> dict[str, Any]:
        """Return the options of a directory's form."""
        return {
            "url": self.url,
            "ca": self.ca,
            "bind_dn": READER,
            "bind_password": READER_PASSWORD,
            "people_base": f"ou=people,{BASE}",
            "group_base": f"ou=groups,{BASE}",
            "is_private": True,
            **more,
        }

    def ad_options(self, **more: Any) -> dict[str, Any]:
        return self.options(
            preset="Active Directory",
            people_base=f"ou=Staff,{AD}",
            group_base=f"ou=Groups,{AD}",
            **more,
        )

    def start(self) -> None:
        argv = [
            program("slapd", "/usr/sbin"),
            "-d",
            "0",
            "-f",
            str(self.path / "slapd.conf"),
            "-h",
            f"ldap://127.0.0.1:{self.port} ldaps://127.0.0.1:{self.tls_port}",
        ]
        self.process = self.folder.start(self.path.name, argv)

        def is_ready() -> bool:
            if self.process.poll() is not None:
                raise RigFailure(f"slapd ended at its start: {self.folder.tail(self.path.name)}")
            return is_listening(self.port) and is_listening(self.tls_port)

        wait_until(is_ready, "slapd answers")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)

    def add(self, entries: Iterable[Entry]) -> None:
        """Add through the server, so that memberOf is maintained."""
        with self._as_admin() as connection:
            for dn, attributes in entries:
                connection.add_s(dn, [(name, _bytes(value)) for name, value in attributes.items()])

    def change(self, dn: str, **attributes: Any) -> None:
        """Replace attributes; None removes one."""
        import ldap

        with self._as_admin() as connection:
            connection.modify_s(
                dn,
                [
                    (ldap.MOD_REPLACE, name, None if value is None else _bytes(value))
                    for name, value in attributes.items()
                ],
            )

    def remove(self, dn: str) -> None:
        with self._as_admin() as connection:
            connection.delete_s(dn)

    @contextmanager
    def _as_admin(self) -> Iterator[Any]:
        import ldap

        connection = ldap.initialize(self.url)
        connection.simple_bind_s(ADMIN, ADMIN_PASSWORD)
        try:
            yield connection
        finally:
            connection.unbind_s()


def start_slapd(folder: Folder, *, name: str = "slapd", more: Iterable[Entry] = ()) -> Slapd:
    """Start it with the company, in about half a second.

    `more` entries are loaded with slapadd (10,000 users in two seconds).
    """
    path, first = folder.path / name, free_ports(2)
    for part in (path, path / "corp", path / "ad"):
        part.mkdir()
    ca = write_certificates(path)
    (path / "ad.schema").write_text(_AD_SCHEMA)
    (path / "slapd.conf").write_text(
        _CONF.format(
            path=path, base=BASE, ad=AD, admin=ADMIN, admin_password=ADMIN_PASSWORD, reader=READER
        )
    )
    made = Slapd(first, first + 1, ca, path, folder)
    _load(made, BASE, [*_trunk(), *more])
    _load(made, AD, _active_directory())
    made.start()
    made.add(_company())
    return made


def crowd(people: int, groups: int) -> Iterator[Entry]:
    """Generate users p<n>, each in GROUPS_OF_EACH of the groups team-<m>.

    Every tenth group is a member of the one before.
    """
    for n in range(people):
        yield _person(f"p{n}", f"Person {n}")
    members: list[list[str]] = [[] for _ in range(groups)]
    for n in range(people):
        for step in range(GROUPS_OF_EACH):
            members[(n + step * 7) % groups].append(people_dn(f"p{n}"))
    for m in range(groups):
        inside = [group_dn(f"team-{m + 1}")] if m % 10 == 0 and m + 1 < groups else []
        yield (
            group_dn(f"team-{m}"),
            {"objectClass": "groupOfNames", "cn": f"team-{m}", "member": [*members[m], *inside]},
        )


def _trunk() -> Iterator[Entry]:
    yield BASE, {"objectClass": ["dcObject", "organization"], "dc": "corp", "o": "Corp"}
    yield (
        READER,
        {
            "objectClass": ["organizationalRole", "simpleSecurityObject"],
            "cn": "reader",
            "userPassword": READER_PASSWORD,
        },
    )
    for name in ("people", "groups", "empty"):
        yield f"ou={name},{BASE}", {"objectClass": "organizationalUnit", "ou": name}


def _person(uid: str, name: str) -> Entry:
    return people_dn(uid), {
        "objectClass": "inetOrgPerson",
        "uid": uid,
        "cn": name,
        "sn": name.rpartition(" ")[2],
        "displayName": name,
        "mail": f"{uid}@corp.example",
        "userPassword": password_of(uid),
    }


def _company() -> Iterator[Entry]:
    """Ada and Bob are staff; Ada is in vision, in ml, in research, which is in vision again."""
    yield _person("ada", "Ada Lovelace")
    yield _person("bob", "Bob Babbage")
    yield _person("eve", "Eve Eavesdropper")
    groups = {"staff": ["ada", "bob"], "vision": ["ada"], "visitors": ["eve"]}
    nested = {"ml": ["vision"], "research": ["ml"]}
    for name, uids in groups.items():
        yield (
            group_dn(name),
            {
                "objectClass": "groupOfNames",
                "cn": name,
                "member": [people_dn(uid) for uid in uids]
                + ([group_dn("research")] if name == "vision" else []),
            },
        )
    for name, inside in nested.items():
        yield (
            group_dn(name),
            {
                "objectClass": "groupOfNames",
                "cn": name,
                "member": [group_dn(group) for group in inside],
            },
        )
    yield (
        group_dn("unix"),
        {"objectClass": "posixGroup", "cn": "unix", "gidNumber": "1000", "memberUid": ["bob"]},
    )


def _active_directory() -> Iterator[Entry]:
    """Anna is in Vision, in ML, in Research; Otto is deactivated."""
    yield AD, {"objectClass": ["dcObject", "organization"], "dc": "ad", "o": "AD"}
    for name in ("Staff", "Groups"):
        yield f"ou={name},{AD}", {"objectClass": "organizationalUnit", "ou": name}
    for number, (name, control) in enumerate({"Anna Ader": 512, "Otto Off": 514}.items(), 1):
        login = name.partition(" ")[0].lower()
        yield (
            f"cn={name},ou=Staff,{AD}",
            {
                "objectClass": "user",
                "objectCategory": "person",
                "cn": name,
                "sn": name.rpartition(" ")[2],
                "displayName": name,
                "sAMAccountName": login,
                "userPrincipalName": f"{login}@ad.example",
                "objectGUID": UUID(int=number).bytes_le,
                "userAccountControl": str(control),
                "userPassword": password_of(login),
            },
        )
    inside = {
        "Vision": f"cn=Anna Ader,ou=Staff,{AD}",
        "ML": f"cn=Vision,ou=Groups,{AD}",
        "Research": f"cn=ML,ou=Groups,{AD}",
    }
    for name, member in inside.items():
        yield (
            f"cn={name},ou=Groups,{AD}",
            {"objectClass": "group", "cn": name, "sAMAccountName": name, "member": member},
        )


def _load(made: Slapd, base: str, entries: Sequence[Entry]) -> None:
    import base64

    lines: list[str] = []
    for dn, attributes in entries:
        lines.append(f"dn:: {base64.b64encode(dn.encode()).decode()}")
        lines += [
            f"{name}:: {base64.b64encode(value).decode()}"
            for name, values in attributes.items()
            for value in _bytes(values)
        ]
        lines.append("")
    (made.path / "load.ldif").write_text("\n".join(lines))
    argv = [
        program("slapadd", "/usr/sbin"),
        "-q",
        "-f",
        str(made.path / "slapd.conf"),
        "-b",
        base,
        "-l",
        str(made.path / "load.ldif"),
    ]
    done = subprocess.run(argv, capture_output=True, check=False)
    if done.returncode:
        raise RigFailure(f"slapadd failed: {done.stderr.decode(errors='replace')[-2000:]}")


def _bytes(values: Any) -> list[bytes]:
    many = values if isinstance(values, (list, tuple)) else [values]
    return [value if isinstance(value, bytes) else str(value).encode() for value in many]


def write_certificates(path: Path) -> str:
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "The rig's own CA")])
    ca = _certificate(ca_name, ca_name, ca_key.public_key(), ca_key, is_ca=True)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    cert = _certificate(name, ca_name, key.public_key(), ca_key, is_ca=False)
    text = ca.public_bytes(serialization.Encoding.PEM).decode()
    (path / "ca.pem").write_text(text)
    (path / "cert.pem").write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    (path / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return text


def _certificate(
    name: x509.Name, issuer: x509.Name, public: Any, key: Any, *, is_ca: bool
) -> x509.Certificate:
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=2))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False
        )
    )
    if is_ca:
        made = made.add_extension(
            x509.KeyUsage(
                digital_signature=True,
                key_cert_sign=True,
                crl_sign=True,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
    else:
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return made.sign(key, hashes.SHA256())
