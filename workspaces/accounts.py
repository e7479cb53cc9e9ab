"""What allauth may do here: sign in and reset passwords; never sign up."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.forms import LoginForm
from allauth.account.internal.flows.login import get_authentication_records
from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from portal.core.errors import PortalError
from workspaces.actors import ONLY_ORG


class SignInForm(LoginForm):
    """By an e-mail address, or by the name that a directory knows one by."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.fields["login"] = forms.CharField(label=_("E-mail address or name"), max_length=254, widget=forms.TextInput(
            attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}))
        self.order_fields(["login", "password"])


class AccountAdapter(DefaultAccountAdapter):
    """People are added by administrators."""

    def authenticate(self, request: HttpRequest, **credentials: Any) -> Any:
        """What a directory has to say is said in the form."""
        try:
            return super().authenticate(request, **credentials)
        except PortalError as error:
            raise ValidationError(error.message) from None

    def login(self, request: HttpRequest, user: Any) -> None:
        """A session says from its first moment which one organization it opens, if one's own directory vouched for it."""
        orgs = [record["org"] for record in get_authentication_records(request, user) if record.get("method") == "directory"]
        super().login(request, user)
        request.session.pop(ONLY_ORG, None)
        if orgs and orgs[-1]:
            request.session[ONLY_ORG] = orgs[-1]

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def populate_username(self, request: HttpRequest, user: Any) -> None:
        """There are no user names: the e-mail address is the name."""
