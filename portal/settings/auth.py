"""Authentication: passwords through allauth, sessions, and rate limits on guessing."""

from __future__ import annotations

from urllib.parse import urlsplit

from portal.settings import env
from portal.settings.muster import MUSTER_BASE_URL, MUSTER_SESSION_HOURS

AUTH_USER_MODEL = "workspaces.User"
# The second is never called, but older sessions name it.
AUTHENTICATION_BACKENDS = [
    "workspaces.identity.auth_backend.PasswordBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    "django.contrib.auth.hashers.ScryptPasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "workspaces.identity.password_rules.NoKnownWords"},
]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = (
    # Administrators enter the addresses; sign-up is closed.
    "none"
)
ACCOUNT_ADAPTER = "workspaces.identity.account_adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "workspaces.identity.account_adapter.SignInForm",
    "change_password": "workspaces.identity.account_adapter.PasswordForm",
}
SOCIALACCOUNT_ADAPTER = (
    # Its providers are our rows.
    "workspaces.identity.adapter.SsoAdapter"
)
# The portal as identity provider of other applications.
IDP_OIDC_ADAPTER = "workspaces.identity.oidc_provider.adapter.IssuerAdapter"
IDP_OIDC_AUTHORIZATION_CODE_EXPIRES_IN = 60
IDP_OIDC_ACCESS_TOKEN_EXPIRES_IN = 3600
IDP_OIDC_REFRESH_TOKEN_EXPIRES_IN = 30 * 86_400
IDP_OIDC_DEVICE_CODE_EXPIRES_IN = 600
IDP_OIDC_RATE_LIMITS = {"device_user_code": "20/m/ip", "device_code": "30/m/ip"}
ACCOUNT_SESSION_REMEMBER = True
SESSION_COOKIE_AGE = int(MUSTER_SESSION_HOURS * 3600)
ACCOUNT_REAUTHENTICATION_TIMEOUT = (
    # Seconds for which a confirmed password counts before changes to sign-in methods.
    300
)
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_RATE_LIMITS = {
    "login": "300/m/ip",  # many users may share one address
    # Per account and address, so that nobody else can lock its owner out.
    "login_failed": "5/5m/key",
    # Per account, from all addresses where it did not sign in recently.
    "login_failed_anywhere": "30/5m/key,60/h/key",
    "sso_begin": "120/m/ip",
    "reset_password": "20/m/ip,5/m/key",
    "reset_password_from_key": "20/m/ip",
    "change_password": "5/m/user",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_ADAPTER = "workspaces.identity.mfa.Adapter"
MFA_FORMS = {
    "authenticate": "workspaces.identity.mfa.SecondFactorForm",
    "reauthenticate": "workspaces.identity.mfa.ConfirmForm",
}
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TOTP_ISSUER = "Muster"
# Accept a clock that is half a minute off; each code is still used only once.
MFA_TOTP_TOLERANCE = 1
# On localhost, where browsers allow it too.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = urlsplit(MUSTER_BASE_URL).scheme != "https"
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "/accounts/login/"
EMAIL_HOST = env.text("MUSTER_EMAIL_HOST")
EMAIL_BACKEND = env.text(
    "MUSTER_EMAIL_BACKEND",
    f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'console'}.EmailBackend",
)
EMAIL_PORT = int(env.text("MUSTER_EMAIL_PORT", "587"))
EMAIL_USE_TLS = env.flag("MUSTER_EMAIL_TLS", True)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = (
    env.text("MUSTER_EMAIL_USER"),
    env.text("MUSTER_EMAIL_PASSWORD"),
)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("MUSTER_EMAIL_FROM", "muster@localhost")

SECRET_KEY = env.secret_key()
SECRET_KEY_FALLBACKS = env.items("MUSTER_SECRET_KEY_FALLBACKS")
