"""Query a directory by python-ldap: encrypted, with a deadline, without following referrals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, TypeVar

import ldap
import ldap.filter
from ldap.controls import SimplePagedResultsControl

from portal.core import clock
from portal.core.messages import Message
from workspaces.identity.ldap.connection import DirectoryConnection, open_connection
from workspaces.identity.ldap.entries import MEMBERS, DirectoryEntry, attributes_of, entry_of
from workspaces.identity.ldap.errors import DirectoryError, directory_error
from workspaces.identity.ldap.settings import Config, normalized_dn

T = TypeVar("T")
PAGE, AT_ONCE = 1000, 500  # entries per page; entries in a search without paging
# in supportedCapabilities; such a server supports _IN_CHAIN
_ACTIVE_DIRECTORY = b"1.2.840.113556.1.4.800"
_IN_CHAIN = "1.2.840.113556.1.4.1941"
ANSWER = 30.0  # seconds for a connection, and for each response
_DEPTH, _WIDTH = 20, 100  # nesting levels of groups; assertions in one filter


class Directory:
    """A connection to a directory, used as a context manager. Its methods raise DirectoryError."""

    def __init__(self, config: Config, seconds: float):
        self.config, self._until = config, clock.monotonic() + seconds
        self._is_active_directory: bool | None = None
        self._ldap: Any = None
        self._line: DirectoryConnection

    def __enter__(self) -> Directory:
        self._ldap = self._connected()
        try:
            self._bind()
        except DirectoryError:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        try:
            self._ldap.unbind_ext_s()
        except ldap.LDAPError:
            pass  # already closed

    def rest(self, seconds: float) -> bool:
        """Keep the connection open for `seconds`; return False if it cannot be kept.

        It needs a bind DN, or no other person could use it, and encryption, or nothing would close
        it.
        """
        if self._line.until is None or not self.config.bind_dn:
            return False
        self._line.until = clock.monotonic() + seconds
        return True

    def resume(self, seconds: float) -> None:
        """Resume a kept connection and bind as the bind DN again, whoever was bound last.

        Raises DirectoryError, within a second, if the connection has been closed meanwhile.
        """
        now = clock.monotonic()
        self._line.until = self._until = now + min(1.0, seconds / 2)
        self._set_timeouts(self._ldap)
        self._bind()
        self._line.until = self._until = now + seconds
        self._set_timeouts(self._ldap)

    @property
    def encryption(self) -> str:
        return (
            "LDAPS"
            if self._url.startswith("ldaps")
            else "unencrypted LDAP"
            if self.config.plain
            else "StartTLS"
        )

    def find(self, login: str) -> DirectoryEntry | None:
        """Find the person who signs in with this name. Raises DirectoryError if there are two."""
        schema, safe = self.config.schema, ldap.filter.escape_filter_chars(login)
        names = "".join(f"({name}={safe})" for name in schema.logins)
        found = self._search(
            self.config.people_base,
            f"(&{schema.people}(|{names}))",
            attributes_of(schema),
            most=2,
        )
        if len(found) > 1:
            raise DirectoryError(
                Message(
                    "Two entries match {x}: {dn} and {dn2}.",
                    x=repr(login[:80]),
                    dn=found[0].dn,
                    dn2=found[1].dn,
                )
            )
        return found[0] if found else None

    def is_password(self, entry: DirectoryEntry, password: str) -> bool:
        """Return whether this is the person's password; binds as that person, so call it last.

        An empty password is never correct: servers treat it as an anonymous bind and report
        success.
        """
        if not password or "\x00" in password:
            return False
        self._ldap.timeout = self._left
        try:
            self._ldap.simple_bind_s(entry.dn, password)
        except (
            ldap.INVALID_CREDENTIALS,
            ldap.INAPPROPRIATE_AUTH,
            ldap.UNWILLING_TO_PERFORM,
            ldap.CONSTRAINT_VIOLATION,
            ldap.NO_SUCH_OBJECT,
        ):
            return False  # also: locked, expired, or without a password
        except ldap.LDAPError as error:
            raise directory_error(error, self.config, Message("checking a password")) from None
        return True

    def groups_of(self, entry: DirectoryEntry, login: str) -> frozenset[str]:
        """Return the keys of a person's groups, with nested groups if they count.

        Uses one query where the server can resolve nesting, else one query per level.
        """
        if not self.config.group_base:
            return frozenset()
        if self.config.nested and self._supports_chain_rule():
            return self._groups_with_members([(f"member:{_IN_CHAIN}:", entry.dn)])
        found = self._groups_with_members(
            [
                ("member", entry.dn),
                ("uniqueMember", entry.dn),
                *([("memberUid", login)] if login else []),
            ]
        )
        new = found
        for _ in range(_DEPTH if self.config.nested else 0):
            new = (
                self._groups_with_members([(name, dn) for dn in new for name in MEMBERS[:2]])
                - found
            )
            if not new:
                break
            found |= new
        return found

    def people(self, attributes: Sequence[str] | None = None) -> Iterator[DirectoryEntry]:
        """Iterate over all people, page by page."""
        schema = self.config.schema
        return self._paged(
            self.config.people_base, schema.people, list(attributes or attributes_of(schema))
        )

    def groups(self) -> Iterator[DirectoryEntry]:
        """Iterate over all groups, completing members that Active Directory returns in ranges."""
        if not self.config.group_base:
            return
        for entry in self._paged(
            self.config.group_base, self.config.schema.groups, [*MEMBERS, "cn"]
        ):
            yield self._with_all_members(entry)

    def has_entries(self, base: str) -> bool:
        """Return whether there is anything below a DN that the bind DN can read."""
        found = self._search(base, "(objectClass=*)", ["1.1"], 2)
        return any(normalized_dn(entry.dn) != normalized_dn(base) for entry in found)

    def names_of_groups(self, typed: str, most: int = 20) -> list[str]:
        """Return the DNs of groups whose name contains `typed`."""
        if not self.config.group_base:
            return []
        name = f"*{ldap.filter.escape_filter_chars(typed)}*" if typed else "*"
        found = self._search(
            self.config.group_base, f"(&{self.config.schema.groups}(cn={name}))", ["cn"], most
        )
        return sorted(entry.dn for entry in found)

    def _connected(self) -> Any:
        *firsts, last = self.config.urls
        for number, url in enumerate(firsts):
            try:
                return self._opened(url, len(firsts) - number)
            except DirectoryError as trouble:
                if not trouble.is_away:
                    raise
        return self._opened(last, 0)

    def _opened(self, url: str, others: int) -> Any:
        """Connect within a share of the remaining time; `others` is the number of servers left."""
        self._url, left = url, max(0.05, self._until - clock.monotonic())
        self._line = open_connection(self.config, url, min(left / 2 if others else left, ANSWER))
        if self._line.until is not None:
            self._line.until = self._until
        # libldap closes it
        made: Any = ldap.initialize("ldap://line", fileno=self._line.end.detach())
        made.protocol_version = ldap.VERSION3
        made.set_option(ldap.OPT_REFERRALS, ldap.OPT_OFF)
        made.set_option(ldap.OPT_RESTART, ldap.OPT_ON)
        self._set_timeouts(made)
        return made

    def _bind(self) -> None:
        if not self.config.bind_dn:
            return
        try:
            self._do(
                Message("signing in with the bind DN"),
                lambda: self._ldap.simple_bind_s(
                    self.config.bind_dn, str(self.config.bind_password)
                ),
            )
        except DirectoryError as trouble:
            trouble.field = trouble.field or "bind_dn"
            raise

    @property
    def _left(self) -> float:
        """Return the seconds left for the next response."""
        return max(0.05, min(self._until - clock.monotonic(), ANSWER))

    def _set_timeouts(self, made: Any) -> None:
        made.timeout = left = self._left
        made.set_option(ldap.OPT_NETWORK_TIMEOUT, left)
        made.set_option(ldap.OPT_TIMEOUT, left)

    def _do(self, doing: str, act: Callable[[], T]) -> T:
        if clock.monotonic() > self._until:
            raise DirectoryError(
                Message("The directory didn't respond in time while {doing}.", doing=doing),
                is_away=True,
            )
        try:
            self._ldap.timeout = self._left  # limit for each response
            return act()
        except ldap.LDAPError as error:
            raise directory_error(error, self.config, doing) from None

    def _search(
        self, base: str, text: str, attributes: list[str], most: int
    ) -> list[DirectoryEntry]:
        """Return at most `most` entries; there may be more."""

        def act() -> list[DirectoryEntry]:
            try:
                message = self._ldap.search_ext(
                    base, ldap.SCOPE_SUBTREE, text, attributes, sizelimit=most
                )
                return self._entries(message)
            except ldap.SIZELIMIT_EXCEEDED:
                return self._paged_first(base, text, attributes, most)

        return self._do(Message("searching below {dn}", context="part of a sentence", dn=base), act)

    def _entries(self, message: int) -> list[DirectoryEntry]:
        _, rows = self._ldap.result(message, all=1, timeout=self._ldap.timeout)
        return [entry_of(dn, found) for dn, found in rows if dn]  # a referral has no DN

    def _all(self, base: str, text: str, attributes: list[str]) -> Sequence[DirectoryEntry]:
        """Search without paging first, as few results are likely; page if there are too many."""

        def act() -> list[DirectoryEntry] | None:
            try:
                return self._entries(
                    self._ldap.search_ext(
                        base, ldap.SCOPE_SUBTREE, text, attributes, sizelimit=AT_ONCE
                    )
                )
            except ldap.SIZELIMIT_EXCEEDED:
                return None

        found = self._do(
            Message("searching below {dn}", context="part of a sentence", dn=base), act
        )
        return list(self._paged(base, text, attributes)) if found is None else found

    def _paged_first(
        self, base: str, text: str, attributes: list[str], most: int
    ) -> list[DirectoryEntry]:
        control = SimplePagedResultsControl(True, size=most, cookie="")
        return self._entries(
            self._ldap.search_ext(base, ldap.SCOPE_SUBTREE, text, attributes, serverctrls=[control])
        )

    def _paged(self, base: str, text: str, attributes: list[str]) -> Iterator[DirectoryEntry]:
        control = SimplePagedResultsControl(True, size=PAGE, cookie="")
        while True:
            rows, control.cookie = self._do(
                Message("listing entries below {dn}", dn=base),
                lambda: self._page(base, text, attributes, control),
            )
            yield from rows
            if not control.cookie:
                return

    def _page(
        self, base: str, text: str, attributes: list[str], control: Any
    ) -> tuple[list[DirectoryEntry], Any]:
        message = self._ldap.search_ext(
            base, ldap.SCOPE_SUBTREE, text, attributes, serverctrls=[control]
        )
        _, rows, _, controls = self._ldap.result3(message, all=1, timeout=self._ldap.timeout)
        cookies = [
            found.cookie
            for found in controls
            if found.controlType == SimplePagedResultsControl.controlType
        ]
        return [entry_of(dn, found) for dn, found in rows if dn], cookies[0] if cookies else ""

    def _groups_with_members(self, members: Sequence[tuple[str, str]]) -> frozenset[str]:
        """Return the keys of the groups that match one of these (attribute, value) pairs."""
        found: set[str] = set()
        for start in range(0, len(members), _WIDTH):
            some = "".join(
                f"({name}={ldap.filter.escape_filter_chars(value)})"
                for name, value in members[start : start + _WIDTH]
            )
            text = f"(&{self.config.schema.groups}(|{some}))"
            found.update(
                normalized_dn(entry.dn)
                for entry in self._all(self.config.group_base, text, ["1.1"])
            )
        return frozenset(found)

    def _supports_chain_rule(self) -> bool:
        if self._is_active_directory is None:
            message = self._do(
                Message("reading the server's capabilities"),
                lambda: self._ldap.read_rootdse_s(attrlist=["supportedCapabilities"]),
            )
            self._is_active_directory = _ACTIVE_DIRECTORY in message.get(
                "supportedCapabilities", []
            )
        return self._is_active_directory

    def _with_all_members(self, entry: DirectoryEntry) -> DirectoryEntry:
        """Read the remaining members of a group.

        Active Directory returns 1,500 at a time, as member;range=0-1499.
        """
        attributes = dict(entry.attributes)
        while pieces := [name for name in attributes if ";range=" in name]:
            for name in pieces:
                plain, _, numbers = name.partition(";range=")
                values = list(attributes.pop(name))
                attributes[plain] = [*attributes.get(plain, ()), *values]
                if not numbers.endswith("*") and values:
                    attributes |= self._next_range(
                        entry.dn, plain, int(numbers.partition("-")[2]) + 1
                    )
        return DirectoryEntry(entry.dn, attributes)

    def _next_range(self, dn: str, name: str, start: int) -> dict[str, Sequence[bytes]]:
        rows = self._do(
            Message("reading {dn}", context="part of a sentence", dn=dn),
            lambda: self._ldap.search_ext_s(
                dn, ldap.SCOPE_BASE, attrlist=[f"{name};range={start}-*"]
            ),
        )
        return (
            {
                key: values
                for key, values in entry_of(dn, rows[0][1]).attributes.items()
                if ";range=" in key
            }
            if rows
            else {}
        )
