"""Restrict allauth's account flows: sign-in and password reset, but no sign-up."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.forms import ChangePasswordForm, LoginForm
from allauth.account.signals import password_reset
from django import forms
from django.core.exceptions import ValidationError
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy as pgettext

from portal.core.errors import PortalError, RateLimited
from portal.core.messages import Message
from workspaces.access.actors import CLOSED, ONLY_ORG, VOUCHED_BY
from workspaces.audit.sign_in_events import record_account_event
from workspaces.identity.allauth_compat import ratelimit
from workspaces.identity.rate_limit_cache import durable
from workspaces.identity.session_policy import has_no_other_way, session_limits


class SignInForm(LoginForm):
    """The sign-in form, for an e-mail address or a directory login name."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.fields["login"] = forms.CharField(
            label=_("Email or username"),
            max_length=254,
            widget=forms.TextInput(
                attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}
            ),
        )
        self.order_fields(["login", "password"])

    def clean(self) -> Any:
        """Reject a correct password in an organization that requires single sign-on."""
        cleaned = super().clean()
        if self.user and (name := has_no_other_way(self.request, self.user)):
            raise ValidationError(
                Message("Your organization requires you to sign in with {name}.", name=name)
            )
        return cleaned


class PasswordForm(ChangePasswordForm):
    """The form to change the password, with labels as on the other pages."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        for name, label in {
            "oldpassword": pgettext("text, workspaces", "Current password"),
            "password1": pgettext("text, workspaces", "New password"),
            "password2": _("Confirm new password"),
        }.items():
            self.fields[name].label = label


def normalized_login(login: str) -> str:
    """Normalize a login, as directories accept several spellings of one name."""
    plain = (
        char
        for char in unicodedata.normalize("NFKD", login)
        if unicodedata.category(char) not in {"Mn", "Cf"}
    )
    return " ".join("".join(plain).casefold().split())


KNOWN_SECONDS = 30 * 86_400  # how long an account remembers the addresses where it signed in


def remember_address(request: HttpRequest, login: str) -> None:
    """Exempt the request's address from the limit on guesses from unknown addresses."""
    durable.set(_known_key(request, login), True, KNOWN_SECONDS)


@receiver(password_reset)
def _reset(*, request: HttpRequest, user: Any, **_: Any) -> None:
    """Trust the address of a password reset, as the person can read the account's mail."""
    remember_address(request, user.email)


def _known_key(request: HttpRequest, login: str) -> str:
    return (
        "known:"
        + hashlib.sha256(
            f"{normalized_login(login)} {ratelimit.get_ip(request)}".encode()
        ).hexdigest()
    )


def _login_in(credentials: dict[str, Any]) -> str:
    return str(credentials.get("email") or credentials.get("username") or "")


class AccountAdapter(DefaultAccountAdapter):
    """Account flows of allauth; accounts are created by administrators only."""

    _account_usage: ratelimit.RateLimitUsage | None = None

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "too_many_login_attempts": _(
            "Too many failed sign-in attempts. Wait five minutes, then try again."
        ),
        **dict.fromkeys(
            ("email_password_mismatch", "username_password_mismatch", "invalid_login"),
            _("That email and password don't match. Try again, or reset your password."),
        ),
        "incorrect_password": _("That isn't your password. Try again."),
        "enter_current_password": _("That isn't your current password. Try again."),
        "incorrect_code": _("That code isn't right. Enter the newest one of your app."),
    }

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Key by account and address only, as clients can vary the host in allauth's key."""
        return f"{normalized_login(_login_in(credentials))} {ratelimit.get_ip(request)}"

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Limit failures per account across unknown addresses, in addition to allauth's limit.

        Raises RateLimited.
        """
        super().pre_authenticate(request, **credentials)
        login = _login_in(credentials)
        if request.user.is_authenticated or durable.get(_known_key(request, login)):
            return
        self._account_usage = ratelimit.consume(
            request,
            app="allauth.account",
            action="login_failed_anywhere",
            key=normalized_login(login),
        )
        if self._account_usage is None:
            self._rollback_login_failed_rl_usage()
            raise RateLimited(
                Message(
                    "Too many failed sign-in attempts for this account. Wait five minutes, use a "
                    "network where you signed in before, or reset your password."
                ),
                data={"retry_after": 300},
            )

    def _rollback_login_failed_rl_usage(self) -> None:
        super()._rollback_login_failed_rl_usage()
        if self._account_usage:
            self._account_usage.rollback()

    def authenticate(self, request: HttpRequest, **credentials: Any) -> Any:
        """Show errors from directories in the form."""
        try:
            user = super().authenticate(request, **credentials)
        except PortalError as error:
            request.refusal = error  # type: ignore[attr-defined]  # for the status of the answer
            raise ValidationError(error.message) from None
        if user:
            remember_address(request, _login_in(credentials))
        return user

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def is_safe_url(self, url: str) -> bool:
        """Reject malformed URLs."""
        try:
            return bool(super().is_safe_url(url))
        except ValueError:
            return False

    def send_password_reset_mail(self, user: Any, email: str, context: dict[str, Any]) -> None:
        """Send the mail for the link on the sign-in page."""
        record_account_event(user, "password.reset_asked")
        super().send_password_reset_mail(user, email, context)

    def login(self, request: HttpRequest, user: Any) -> None:
        """Store the session's restrictions from the start."""
        worth = session_limits(request, user)
        super().login(request, user)
        for key in (ONLY_ORG, VOUCHED_BY, CLOSED):
            request.session.pop(key, None)
        request.session.update(worth)

    def populate_username(self, request: HttpRequest, user: Any) -> None:
        """Do nothing: accounts have no user name but the e-mail address."""
