from workspaces.services.announcements import announce, withdraw_announcement
from workspaces.services.bootstrap import bootstrap
from workspaces.services.impersonation import act_as, stop_acting
from workspaces.services.invitations import (
    accept,
    bring_in,
    claim,
    invite,
    renew_invitation,
    revoke_invitation,
)
from workspaces.services.orgs import (
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
from workspaces.services.people import import_people
from workspaces.services.platform import (
    found_org,
    reinstate_person,
    sign_out_everywhere,
    suspend_person,
    take_off_factors,
)
from workspaces.services.quota_requests import ask_for_more, decide_request
from workspaces.services.quota_setting import Wanted, set_quota, set_quotas
from workspaces.services.roles import change_role, delete_role, make_role
from workspaces.services.secrets import delete_secret, delete_version, set_secret
from workspaces.services.service_accounts import (
    change_service_account,
    create_service_account,
    create_service_token,
    remove_service_account,
)
from workspaces.services.team_rules import set_team_rules
from workspaces.services.tokens import (
    Bearer,
    Wish,
    create_token,
    issue_attempt_tokens,
    revoke_attempt_tokens,
    revoke_token,
    rotate_token,
)

__all__ = [
    "Bearer",
    "Wanted",
    "Wish",
    "accept",
    "act_as",
    "add_member",
    "add_team_member",
    "announce",
    "ask_for_more",
    "bootstrap",
    "bring_in",
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
    "remove_service_account",
    "remove_team_member",
    "rename_org",
    "rename_team",
    "renew_invitation",
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
    "take_off_factors",
    "withdraw_announcement",
]
