"""The caller of a request, for every domain."""

from dataclasses import dataclass
from datetime import datetime

OWNER = "owner"
ROLES = ("owner", "admin", "member", "viewer")
WRITERS = frozenset({"owner", "admin", "member"})
ADMINS = frozenset({"owner", "admin"})


@dataclass(frozen=True, slots=True)
class Caller:
    """The organization that a request acts on, and the identity behind the request.

    ``user_id`` is set for people, ``key_id`` for API keys. ``role`` is one of :data:`ROLES`. ``impersonator_id`` is the
    superuser behind a borrowed session, which may write only with ``support_may_write``. ``scopes`` limit an API key. ``ip``
    is the request's origin address. With ``lacks_second_factor`` the organization demands one that the person does not have.
    ``by_provider``: the organization's identity provider opened the session, which is then good for this organization only; with
    ``lacks_provider`` the organization demands that it does. ``signed_in_at``: when a person last proved who they are, ``session_id``: in
    which session they act.
    """

    organization_id: int
    user_id: int | None
    key_id: int | None
    role: str
    is_superuser: bool
    impersonator_id: int | None = None
    ip: str | None = None
    scopes: frozenset[str] | None = None
    support_may_write: bool = False
    lacks_second_factor: bool = False
    by_provider: bool = False
    lacks_provider: bool = False
    signed_in_at: datetime | None = None
    session_id: int | None = None

    @classmethod
    def system(cls, organization_id: int, *, role: str = "member") -> "Caller":
        """Returns a caller without a person or an API key, for changes made by a job or a command."""
        return cls(organization_id, user_id=None, key_id=None, role=role, is_superuser=False)
