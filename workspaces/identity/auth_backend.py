"""Sign in with a name and a password: a local password first, then a directory.

An administrator's local password therefore works when directories are down.
"""

from __future__ import annotations

from typing import Any, NoReturn

from allauth.account.auth_backends import AuthenticationBackend
from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from django.contrib.auth.hashers import is_password_usable
from django.core.exceptions import PermissionDenied
from django.db.models import F
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from portal.core import clock
from portal.core.errors import InvalidInput, NotPermitted, Unavailable
from portal.core.messages import Message
from portal.core.vault import Unreadable
from workspaces.identity import request_limits
from workspaces.identity.allauth_compat import record_authentication, show_deactivated
from workspaces.identity.ldap.errors import DirectoryError
from workspaces.identity.ldap.password_check import PasswordCheckResult, query_directories
from workspaces.identity.provider_services import config_of
from workspaces.identity.provisioning import ProviderPerson
from workspaces.identity.provisioning_services import admit, update_people
from workspaces.models import Identity, Provider, User
from workspaces.tenancy.scope import no_scope, platform_scope

METHOD = "directory"  # the method that allauth records in the session, with the provider's slug


class PasswordBackend(AuthenticationBackend):
    """Authenticate by local password or directory.

    Raises PermissionDenied for unknown credentials, so no further backend is tried, and Unavailable
    when a directory that might know the person is down.
    """

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> Any:
        password = str(credentials.get("password") or "")
        login = str(credentials.get("email") or credentials.get("username") or "").strip()
        if not password or not login or len(login) > 254 or len(password) > 1024:
            raise PermissionDenied
        has_own = _has_own_password(login)
        if has_own and (found := super().authenticate(request, **credentials)):
            _clear_directory(request)
            return found
        if stashed := self.unstash_authenticated_user():
            _deny(stashed)  # the local password is correct, but the account is deactivated
        user = _by_directory(request, login, password)
        if user is None:
            if not has_own:
                # takes as long as comparing an existing password
                self._mitigate_timing_attack(password)
            raise PermissionDenied
        if not self.user_can_authenticate(user):
            _deny(user)
        return user


@platform_scope("sign-in queries directories of all organizations")
def directories_for(login: str, slug: str = "") -> list[Provider]:
    """Return the directories that may receive this login and password, in order.

    `slug` is the directory that the person selected. An organization's directory is used for the
    domains that an operator assigned to it; if selected, also for a domain that nobody has and for
    accounts already linked to it. Directories of the installation belong to the operators.
    """
    domain = login.lower().rpartition("@")[2] if "@" in login else ""
    every = list(Provider.objects.order_by("created_at"))
    # including disabled providers and other types: the domain is still theirs
    having = [row for row in every if domain and domain in row.domains]
    rows = [row for row in every if row.kind == Provider.Kind.LDAP and row.is_enabled]
    if slug:
        return [
            row
            for row in rows
            if row.slug == slug
            and (not having or row.org_id == having[0].org_id or _is_linked(row, login))
        ]
    named = [row for row in rows if row in having and row.org_id == having[0].org_id]
    return named or [row for row in rows if row.org_id is None and not (domain and row.domains)]


def _is_linked(provider: Provider, login: str) -> bool:
    """Match by the local account's address; addresses from a directory prove nothing."""
    return Identity.objects.filter(
        provider=provider, gone_since=None, user__email=login.lower()
    ).exists()


def prove(provider: Provider, login: str, password: str) -> ProviderPerson:
    """Return the person with this name and password in the directory.

    Raises NotPermitted, Unavailable.
    """
    answers = _answers({provider.slug: provider}, login, password)
    if answers and answers[0].trouble:
        raise Unavailable(
            Message("{name} isn't responding. Try again in a minute.", name=provider.name),
            data={"retry_after": request_limits.RETRY_AFTER},
        )
    if not answers or answers[0].person is None:
        raise NotPermitted(
            Message("{name} doesn't recognize this name and password.", name=provider.name)
        )
    return answers[0].person


def _by_directory(request: HttpRequest | None, login: str, password: str) -> User | None:
    slug = str(request.POST.get("directory", ""))[:100] if request is not None else ""
    rows = {row.slug: row for row in directories_for(login, slug)}
    if not rows:
        return None
    answers = _answers(rows, login, password)
    for answer in answers:
        if answer.person:
            with no_scope():
                user = admit(rows[answer.slug], answer.person)
            if request is not None and hasattr(request, "session"):
                _record_directory(request, user, rows[answer.slug])
            return user
    if away := [rows[answer.slug].name for answer in answers if answer.trouble]:
        names = ", ".join(away)
        failed = (
            Message(
                "{names} does not respond, so nobody can sign in through it right now.", names=names
            )
            if len(away) == 1
            else Message(
                "{names} do not respond, so nobody can sign in through them right now.", names=names
            )
        )
        advice = Message(
            "Existing sessions and local passwords still work. "
            "Try again in a minute, or ask an operator."
        )
        raise Unavailable(
            Message.joined(" ", (failed, advice)),
            data={"retry_after": request_limits.RETRY_AFTER},
        )
    return None


def _answers(rows: dict[str, Provider], login: str, password: str) -> list[PasswordCheckResult]:
    """Ask directories of one organization, or of the installation.

    Raises Unavailable when too many requests are waiting for them.
    """
    configs, answers = _configs(rows)
    if configs:
        with request_limits.waiting(rows[configs[0][0]].org_id):
            answers += query_directories(configs, login, password)
    _record_answers(rows, answers)
    with no_scope():
        for answer in answers:
            if answer.disabled:  # not only this attempt: what the person has open ends, too
                update_people(rows[answer.slug], [], [answer.disabled])
    return answers


def _configs(rows: dict[str, Provider]) -> tuple[list[tuple[str, Any]], list[PasswordCheckResult]]:
    """Split the directories into configs to ask, and answers for those known to be unavailable."""
    good, bad = list[tuple[str, Any]](), list[PasswordCheckResult]()
    for slug, row in rows.items():
        if why := request_limits.unavailable_reason(slug):
            bad.append(PasswordCheckResult(slug, trouble=DirectoryError(why, is_away=True)))
            continue
        try:
            good.append((slug, config_of(row)))
        except (InvalidInput, Unreadable) as error:
            bad.append(PasswordCheckResult(slug, trouble=DirectoryError(str(error))))
    return good, bad


def _record_directory(request: HttpRequest, user: User, provider: Provider) -> None:
    """Record the directory in the session for this user, to survive the second factor."""
    _clear_directory(request)
    record_authentication(
        request, user, method=METHOD, provider=provider.slug, org=str(provider.org_id or "")
    )


def _clear_directory(request: HttpRequest | None) -> None:
    """Remove the record of a directory that authenticated an earlier attempt."""
    if request is not None and hasattr(request, "session"):
        records = request.session.get(AUTHENTICATION_METHODS_SESSION_KEY)
        if isinstance(records, list) and any(record.get("method") == METHOD for record in records):
            request.session[AUTHENTICATION_METHODS_SESSION_KEY] = [
                r for r in records if r.get("method") != METHOD
            ]


@platform_scope("status of a directory at sign-in")
def _record_answers(rows: dict[str, Provider], answers: list[PasswordCheckResult]) -> None:
    """Record how directories answered: when the state changes, or a minute has passed."""
    now = clock.now()
    for answer in answers:
        row = rows[answer.slug]
        if answer.trouble and row.trouble != answer.trouble.message[:500]:
            Provider.objects.filter(id=row.id).update(
                trouble=answer.trouble.message[:500],
                trouble_since=Coalesce(F("trouble_since"), now),
            )
        elif not answer.trouble and (
            row.trouble or row.seen_at is None or (now - row.seen_at).total_seconds() > 60
        ):
            Provider.objects.filter(id=row.id).update(trouble="", trouble_since=None, seen_at=now)


def _deny(user: Any) -> NoReturn:
    """Deny sign-in; allauth then shows its page for deactivated accounts."""
    show_deactivated(user)
    raise PermissionDenied


def _has_own_password(login: str) -> bool:
    """Return whether the account has a local password; addresses are stored in lower case."""
    stored = User.objects.filter(email=login.lower()).values_list("password", flat=True).first()
    return stored is not None and is_password_usable(stored)
