"""Render explanations as text and as data."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from workspaces.access.grants import AccessChange, Proposal, smallest_grants
from workspaces.access.permissions import texts
from workspaces.access.roles import role_facts
from workspaces.access.steps import AccessQuestion, AccessStep, Effect, Explanation


def permission_text(explanation: Explanation) -> str:
    """Describe the permission: "submit jobs"."""
    return _(texts().get(explanation.case.permission, str(explanation.case.permission)))


def sentence(step: AccessStep, case: AccessQuestion) -> str:
    """Return one step as a sentence."""
    names = {
        "permission": case.permission,
        "email": case.email,
        "team": case.team or pgettext("part of a sentence", "this team"),
        **step.facts,
        "title": _(step.facts.get("title", "")),
    }
    if step.kind in ("org-role", "team-role"):
        return _role(step, names)
    return {
        "account-off": _("The account %(email)s is disabled."),
        "token": _("The access token allows it."),
        "token-ended": _("The access token has expired or was revoked."),
        "token-elsewhere": _("The access token belongs to another organization."),
        "token-scope": _("The access token does not have the scope %(permission)s."),
        "token-team": _("The access token is limited to another team."),
        "operator": _("%(email)s is a platform operator, who may do everything."),
        "suspended": _(
            "The membership of %(email)s, with the role %(title)s, is suspended: the directory "
            "no longer lists them."
        ),
        "stranger": _("%(email)s is not a member of this organization."),
        "no-operator": _("%(email)s is not a platform operator."),
        "not-in-team": _("%(email)s has no role in team %(team)s."),
        "rule": _("%(text)s"),
    }[step.kind] % names


def sentences(explanation: Explanation) -> list[str]:
    """Return the chain as sentences."""
    return [sentence(step, explanation.case) for step in explanation.steps]


def denial_reason(explanation: Explanation) -> str:
    """Return in a few sentences why access is denied and what to ask for.

    Names what blocks it, or else all roles that do not grant it.
    """
    blocks = [step for step in explanation.steps if step.effect == Effect.BLOCKS]
    found = [sentence(step, explanation.case) for step in blocks or explanation.steps]
    requests = [
        proposal_text(proposal, explanation.case) for proposal in smallest_grants(explanation.case)
    ]
    return " ".join(
        [
            *found,
            *(
                [
                    _("To be allowed: %(ways)s.")
                    % {"ways": pgettext("part of a sentence", ", or ").join(requests)}
                ]
                if requests
                else []
            ),
        ]
    )


def proposal_text(proposal: Proposal, case: AccessQuestion) -> str:
    """Return what would allow it: "the role Member in team vision"."""
    return pgettext("part of a sentence", " and ").join(
        _change(change, case) for change in proposal
    )


def as_data(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as shown by the API and the pages."""
    case = explanation.case
    return {
        "allowed": explanation.allowed,
        "person": case.email,
        "permission": str(case.permission),
        "words": permission_text(explanation),
        "team": case.team or None,
        "steps": [
            {
                "kind": step.kind,
                "effect": str(step.effect),
                "is_decisive": step.is_decisive,
                "text": sentence(step, case),
                "facts": dict(step.facts),
            }
            for step in explanation.steps
        ],
        "would_allow": [
            {
                "text": proposal_text(proposal, case),
                "changes": [
                    {"kind": change.kind, "role": change.role or None} for change in proposal
                ],
            }
            for proposal in smallest_grants(case)
        ],
    }


def _role(step: AccessStep, names: dict[str, Any]) -> str:
    is_org = step.kind == "org-role"
    if step.facts["is_gone"]:
        text = (
            _("The role %(role)s in the organization no longer exists, and grants nothing.")
            if is_org
            else _("The role %(role)s in team %(team)s no longer exists, and grants nothing.")
        )
    elif step.effect == Effect.GRANTS:
        text = (
            _("The role %(title)s in the organization grants %(permission)s.")
            if is_org
            else _("The role %(title)s in team %(team)s grants %(permission)s.")
        )
    else:
        text = (
            _("The role %(title)s in the organization does not grant %(permission)s.")
            if is_org
            else _("The role %(title)s in team %(team)s does not grant %(permission)s.")
        )
    via = step.facts["via"]
    return text % names + (" " + _("It is given by %(via)s.") % {"via": via} if via else "")


def _change(change: AccessChange, case: AccessQuestion) -> str:
    match change.kind:
        case "org-role":
            return _("the role %(title)s in the organization") % {
                "title": _(role_facts("org", change.role, case.own_roles).title)
            }
        case "team-role":
            title = _(role_facts("team", change.role, case.own_roles).title)
            return _("the role %(title)s in team %(team)s") % {
                "title": title,
                "team": case.team or pgettext("part of a sentence", "this team"),
            }
        case "custom-role":
            return _("a custom role in the organization that grants %(permission)s") % {
                "permission": case.permission
            }
        case "account-on":
            return _("enabling the account")
        case "resume":
            return _("ending the suspension of the membership")
        case "operator":
            return _("being a platform operator")
    return _("a token with the scope %(permission)s that is valid there") % {
        "permission": case.permission
    }
