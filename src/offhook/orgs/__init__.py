"""Organisations, their people, sign-in and API keys."""

from offhook.kit.crypto import Keyring
from offhook.orgs.audit import audit
from offhook.orgs.authentication import Authenticator
from offhook.orgs.caller import Caller
from offhook.orgs.dependencies import (
    ClientAddress,
    CurrentOrg,
    OptionalOrg,
    RequireAdmin,
    RequireMember,
    RequireSuperuser,
)
from offhook.root import Root

__all__ = [
    "Caller",
    "ClientAddress",
    "CurrentOrg",
    "OptionalOrg",
    "RequireAdmin",
    "RequireMember",
    "RequireSuperuser",
    "audit",
    "register",
]


def register(root: Root) -> None:
    """Add sign-in, keys, members and the audit log to the process."""
    secret = root.settings.secret_key
    root.provide(Keyring, Keyring(secret.get_secret_value() if secret else None, root.settings.data_dir / "secret.key"))
    root.provide(Authenticator, Authenticator(root.db, root.clock))
