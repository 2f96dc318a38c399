"""Organisations, their people, sign-in and API keys."""

from offhook.kit.crypto import Keyring
from offhook.orgs import do_not_call_endpoints, endpoints, tasks
from offhook.orgs.audit import audit
from offhook.orgs.authentication import Authenticator
from offhook.orgs.caller import Caller
from offhook.orgs.dependencies import (
    ClientAddress,
    CurrentOrg,
    Now,
    OptionalOrg,
    RequireAdmin,
    RequireMember,
    RequireSuperuser,
)
from offhook.orgs.idempotency import IdempotencyHeader, once
from offhook.orgs.signin import SignIn
from offhook.root import Root

__all__ = [
    "Caller",
    "ClientAddress",
    "CurrentOrg",
    "IdempotencyHeader",
    "Now",
    "OptionalOrg",
    "RequireAdmin",
    "RequireMember",
    "RequireSuperuser",
    "audit",
    "once",
    "register",
]


def register(root: Root) -> None:
    """Add sign-in, keys, members and the audit log to the process."""
    secret = root.settings.secret_key
    root.provide(Keyring, Keyring(secret.get_secret_value() if secret else None, root.settings.data_dir / "secret.key"))
    root.provide(Authenticator, Authenticator(root.db, root.clock))
    root.provide(SignIn, SignIn(root.db, root.clock, root.settings))
    root.api.include_router(endpoints.auth)
    root.api.include_router(endpoints.organizations)
    root.api.include_router(do_not_call_endpoints.router)
    root.jobs.add("credentials.sweep", tasks.sweep_handler(root), every_s=tasks.SWEEP_EVERY_S)
