from workspaces.models.access import AccessToken
from workspaces.models.people import Membership, Organization, Role, Team, TeamMembership, User
from workspaces.models.providers import GroupRule, Identity, Provider
from workspaces.models.quota import Quota
from workspaces.models.runs import DirectoryRun

__all__ = [
    "AccessToken", "DirectoryRun", "GroupRule", "Identity", "Membership", "Organization", "Provider", "Quota", "Role", "Team", "TeamMembership",
    "User",
]
