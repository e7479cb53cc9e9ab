"""Who people are: passwords through allauth, sessions, and the limits on guessing."""

from __future__ import annotations

from portal.settings import env

AUTH_USER_MODEL = "workspaces.User"
# The second is never asked; sessions begun before there was the first name it.
AUTHENTICATION_BACKENDS = ["workspaces.sso.backend.PasswordBackend", "allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    "django.contrib.auth.hashers.ScryptPasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"          # addresses come from administrators, not from sign-up, which is closed
ACCOUNT_ADAPTER = "workspaces.accounts.AccountAdapter"
ACCOUNT_FORMS = {"login": "workspaces.accounts.SignInForm"}
SOCIALACCOUNT_ADAPTER = "workspaces.sso.adapter.SsoAdapter"     # its providers are our rows, its rules are ours
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    "login_failed": "10/m/ip,5/5m/key",
    "reset_password": "20/m/ip,5/m/key",
    "reset_password_from_key": "20/m/ip",
    "change_password": "5/m/user",
}
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "/accounts/login/"
EMAIL_BACKEND = env.text("MUSTER_EMAIL_BACKEND", "django.core.mail.backends.console.EmailBackend")

SECRET_KEY = env.secret_key()
SECRET_KEY_FALLBACKS = env.items("MUSTER_SECRET_KEY_FALLBACKS")
