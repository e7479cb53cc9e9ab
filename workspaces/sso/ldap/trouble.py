"""What goes wrong with a directory, in words that say what to do."""

from __future__ import annotations

import socket
import ssl
from typing import Any
from urllib.parse import urlsplit

from workspaces.sso.kinds import Away
from workspaces.sso.ldap.settings import Config

_STARTTLS = bytes.fromhex("301d02010177188016") + b"1.3.6.1.4.1.1466.20037"


class Trouble(Away):
    """The directory cannot be asked. `is_away`: it may answer later; else somebody has to change something."""

    def __init__(self, message: str, *, is_away: bool = False):
        super().__init__(message)
        self.is_away = is_away


def explained(error: Any, config: Config, doing: str) -> Trouble:
    """An error of python-ldap while `doing` ("connecting", "signing in as the reader", "searching below …")."""
    import ldap

    told = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
    text = " ".join(str(told[key]) for key in ("desc", "info") if told.get(key)) or str(error)
    if isinstance(error, (ldap.SERVER_DOWN, ldap.CONNECT_ERROR, ldap.TIMEOUT, ldap.BUSY, ldap.UNAVAILABLE)):
        return Trouble(f"It does not answer while {doing}: {text}.", is_away=True)
    if isinstance(error, ldap.INVALID_CREDENTIALS):
        return Trouble(f"It refused the reader {config.bind_dn}: wrong password, or no such DN. Enter the reader's password again.")
    if isinstance(error, ldap.NO_SUCH_OBJECT):
        return Trouble(f"There is nothing there while {doing}: the DN does not exist, or the reader may not see it.")
    if isinstance(error, ldap.INVALID_DN_SYNTAX):
        return Trouble(f"A DN is not well-formed while {doing}: {text}.")
    if isinstance(error, (ldap.INSUFFICIENT_ACCESS, ldap.INAPPROPRIATE_AUTH, ldap.STRONG_AUTH_REQUIRED, ldap.CONFIDENTIALITY_REQUIRED)):
        return Trouble(f"It does not let the reader do this while {doing}: {text}. Give a reader that may search.")
    if isinstance(error, (ldap.SIZELIMIT_EXCEEDED, ldap.ADMINLIMIT_EXCEEDED, ldap.TIMELIMIT_EXCEEDED)):
        return Trouble(f"It cut its answer short while {doing}: {text}. Raise its limit for the reader; half an answer is not used.")
    if isinstance(error, ldap.FILTER_ERROR):
        return Trouble("A filter is not well-formed: look at the ones under More.")
    return Trouble(f"{type(error).__name__} while {doing}: {text}.", is_away=isinstance(error, ldap.OPERATIONS_ERROR))


def diagnosis(config: Config, url: str, seconds: float) -> str:
    """Why a connection is not made: walks the same way by hand, as the LDAP library does not tell. Empty: all is well."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (636 if parts.scheme == "ldaps" else 389)
    try:
        plain = socket.create_connection((host, port), timeout=seconds)
    except socket.gaierror:
        return f"There is no machine called {host}: look at the name, and at the portal's DNS."
    except TimeoutError:
        return f"{host} does not answer on port {port} within {seconds:g} s: a firewall, or the wrong address."
    except OSError as error:
        return f"Nothing listens on {host} port {port} ({error.strerror or error})."
    with plain:
        try:
            return _talk(plain, config, host, is_ldaps=parts.scheme == "ldaps")
        except TimeoutError:
            return f"{host} takes the connection on port {port} and then says nothing: is this an LDAP server?"
        except OSError as error:
            return f"{host} ended the connection on port {port} ({error.strerror or error}): is this the right port and scheme?"


def _talk(plain: socket.socket, config: Config, host: str, *, is_ldaps: bool) -> str:
    if not is_ldaps:
        if config.plain:
            return ""
        plain.sendall(_STARTTLS)
        answer = plain.recv(4096)
        if b"\x0a\x01\x00" not in answer:
            return "It offers no StartTLS: give it a certificate, or use ldaps://."
    context = ssl.create_default_context()
    if config.ca:
        try:
            context.load_verify_locations(cadata=config.ca)
        except ssl.SSLError:
            return "The CA certificate cannot be read: paste it whole, from -----BEGIN CERTIFICATE----- to the end."
    try:
        with context.wrap_socket(plain, server_hostname=host):
            return ""
    except ssl.SSLCertVerificationError as error:
        return _of_certificate(error, host)
    except ssl.SSLError as error:
        return f"TLS fails: {error.reason or error}. Is this the right port and scheme?"


def _of_certificate(error: ssl.SSLCertVerificationError, host: str) -> str:
    said = error.verify_message or str(error)
    if "ostname mismatch" in said or "IP address mismatch" in said:
        return f"Its certificate is not for {host}: use the name that is in the certificate."
    if "expired" in said or "not yet valid" in said:
        return f"Its certificate is not valid today ({said}): it must be renewed there."
    return f"Its certificate is not trusted ({said}): paste the certificate of the CA that signed it."
