"""Public service functions of organizations, access, credentials and quotas."""

from workspaces.access.impersonation import act_as, stop_acting
from workspaces.access.services import change_role, delete_role, make_role
from workspaces.credentials.secrets import delete_secret, delete_version, set_secret
from workspaces.credentials.service_accounts import (
    change_service_account,
    create_service_account,
    create_service_token,
    remove_service_account,
)
from workspaces.credentials.tokens import (
    Bearer,
    TokenParams,
    create_token,
    issue_attempt_tokens,
    revoke_attempt_tokens,
    revoke_token,
    rotate_token,
)
from workspaces.organizations.announcement_services import announce, withdraw_announcement
from workspaces.organizations.bootstrap import bootstrap
from workspaces.organizations.invitations import (
    accept,
    add_or_invite,
    claim,
    invite,
    renew_invitation,
    revoke_invitation,
)
from workspaces.organizations.people_import import import_people
from workspaces.organizations.platform_services import (
    found_org,
    reinstate_person,
    remove_second_factors,
    sign_out_everywhere,
    suspend_person,
)
from workspaces.organizations.services import (
    add_member,
    add_team_member,
    change_member,
    change_team_member,
    create_org,
    create_team,
    remove_member,
    remove_team_member,
    rename_org,
    rename_team,
    require_second_factor,
    show_guide,
)
from workspaces.organizations.team_rule_services import set_team_rules
from workspaces.quotas.requests import decide_request, request_limit
from workspaces.quotas.set_limits import Wanted, set_quota, set_quotas

__all__ = [
    "Bearer",
    "TokenParams",
    "Wanted",
    "accept",
    "act_as",
    "add_member",
    "add_or_invite",
    "add_team_member",
    "announce",
    "bootstrap",
    "change_member",
    "change_role",
    "change_service_account",
    "change_team_member",
    "claim",
    "create_org",
    "create_service_account",
    "create_service_token",
    "create_team",
    "create_token",
    "decide_request",
    "delete_role",
    "delete_secret",
    "delete_version",
    "found_org",
    "import_people",
    "invite",
    "issue_attempt_tokens",
    "make_role",
    "reinstate_person",
    "remove_member",
    "remove_second_factors",
    "remove_service_account",
    "remove_team_member",
    "rename_org",
    "rename_team",
    "renew_invitation",
    "request_limit",
    "require_second_factor",
    "revoke_attempt_tokens",
    "revoke_invitation",
    "revoke_token",
    "rotate_token",
    "set_quota",
    "set_quotas",
    "set_secret",
    "set_team_rules",
    "show_guide",
    "sign_out_everywhere",
    "stop_acting",
    "suspend_person",
    "withdraw_announcement",
]
