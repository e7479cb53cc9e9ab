"""Models of organizations, users, access, credentials and quotas."""

from workspaces.models.access import AccessToken, Impersonation, ServiceAccount, SignIn, SpentCode
from workspaces.models.announcements import Announcement
from workspaces.models.approvals import Approval, ApprovalRequest, ApprovalState
from workspaces.models.durable import DurableEntry
from workspaces.models.gpu_hours import GpuMonth
from workspaces.models.invitations import Invitation
from workspaces.models.issuing import Consent, SigningKey
from workspaces.models.people import Membership, Organization, Role, Team, TeamMembership, User
from workspaces.models.providers import GroupRule, Identity, Provider
from workspaces.models.quota import Quota
from workspaces.models.quota_requests import QuotaRequest
from workspaces.models.runs import DirectoryRun, ProviderTest
from workspaces.models.scim import ScimRecord, ScimToken
from workspaces.models.secrets import Secret, SecretVersion

__all__ = [
    "AccessToken",
    "Announcement",
    "Approval",
    "ApprovalRequest",
    "ApprovalState",
    "Consent",
    "DirectoryRun",
    "DurableEntry",
    "GpuMonth",
    "GroupRule",
    "Identity",
    "Impersonation",
    "Invitation",
    "Membership",
    "Organization",
    "Provider",
    "ProviderTest",
    "Quota",
    "QuotaRequest",
    "Role",
    "ScimRecord",
    "ScimToken",
    "Secret",
    "SecretVersion",
    "ServiceAccount",
    "SignIn",
    "SigningKey",
    "SpentCode",
    "Team",
    "TeamMembership",
    "User",
]
