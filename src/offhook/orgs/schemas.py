"""Requests and responses of sign-in, keys and members."""

from datetime import datetime
from ipaddress import ip_network
from typing import Annotated, Literal

from email_validator import EmailNotValidError, validate_email
from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, StringConstraints

from offhook.kit.schema import Schema
from offhook.orgs.access_rules import SCOPES

Role = Literal["owner", "admin", "member", "viewer"]
KeyScope = Literal["read", "call", "manage"]
KeyRole = Literal["admin", "member", "viewer"]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
# The upper bound keeps hashing from overloading the server.
Password = Annotated[str, StringConstraints(min_length=8, max_length=1024)]


def normalize_email(text: str) -> str:
    """Returns the address in its normal form; raises ValueError."""
    try:
        # Not only public internet addresses: a self-hosted installation may have ``ops@intranet``.
        return validate_email(text.strip(), check_deliverability=False, globally_deliverable=False).normalized
    except EmailNotValidError as error:
        raise ValueError(f"not a valid email address: {error}") from None


Email = Annotated[str, StringConstraints(max_length=320), AfterValidator(normalize_email)]


def _normalize_network(text: str) -> str:
    try:
        return str(ip_network(text.strip(), strict=False))
    except ValueError:
        raise ValueError("not an IP address or network such as 203.0.113.0/24") from None


Network = Annotated[str, StringConstraints(max_length=64), AfterValidator(_normalize_network)]


class SignupBody(Schema):
    email: Email
    name: Name | None = None
    organization_name: Name | None = None


class SignupResponse(Schema):
    """The response to a request, the same for addresses with and without an account."""

    status: Literal["pending"] = "pending"
    detail: str = "Your request was received. The operator of this installation sends a sign-in link to the address."


class SignupRequestResponse(Schema):
    model_config = ConfigDict(from_attributes=True)

    id: int
    email: str
    name: str | None
    organization_name: str | None
    ip: str | None
    created_at: datetime


class SignInLinkCreated(Schema):
    """``token`` and ``url`` (which contains it) are returned only once; hand the link to the person."""

    email: str
    token: str
    url: str
    expires_at: datetime


class LoginRequest(Schema):
    email: Annotated[str, StringConstraints(strip_whitespace=True, max_length=320)]
    password: Annotated[str, StringConstraints(max_length=1024)]


class LinkRequest(Schema):
    """``new_password`` is required by links that set a password (422 ``password_missing`` without it)."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=512)]
    new_password: Password | None = None


class UserResponse(Schema):
    id: int
    email: str
    name: str | None
    organization_id: int
    role: Role
    is_superuser: bool


class SignedInResponse(Schema):
    """Send ``token`` as ``Authorization: Bearer <token>``; it ends 72 hours after its last use,
    and 30 days after signing in."""

    token: str
    user: UserResponse


class SecondStepResponse(Schema):
    """Returned instead of a session for people with two-step sign-in: send ``challenge`` and a code to
    ``/auth/second-step``, before
    ``expires_at``. It allows five codes."""

    challenge: str
    expires_at: datetime


class SecondStepRequest(Schema):
    """``code``: the six digits that the authenticator app shows now, or a recovery code."""

    challenge: Annotated[str, StringConstraints(min_length=1, max_length=512)]
    code: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]


class MeResponse(Schema):
    """The caller: a person, or an API key, which has no ``user``.

    ``second_factor_due_at`` is set while the organization demands a second factor that the person does not have: from then
    on everything but their own account answers 403 ``second_factor_required``. ``has_password``: the person has set one; false
    for an API key. ``is_provider_session``: the organization's
    identity provider opened this session. ``provider_sign_in_name`` is set while the organization demands that and the session is
    another one.
    """

    user: UserResponse | None
    id: int | None
    email: str | None
    name: str | None
    organization_id: int
    role: Role
    is_superuser: bool
    impersonated: bool
    second_factor_due_at: datetime | None
    has_password: bool
    is_provider_session: bool
    provider_sign_in_name: str | None


class LogoutResponse(Schema):
    success: bool = True


class OrganizationResponse(Schema):
    model_config = ConfigDict(from_attributes=True)

    id: int
    name: str
    time_zone: str


class ApiKeyCreate(Schema):
    """``scopes``: ``read``, ``call`` (start and end conversations, start and pause campaigns), ``manage`` (every other
    change that the role allows). ``networks``: where the key may be used from, as addresses or CIDR; empty for anywhere.
    """

    model_config = ConfigDict(extra="forbid")

    name: Name
    role: KeyRole = "admin"
    scopes: list[KeyScope] = Field(list(SCOPES), min_length=1, max_length=3)
    networks: list[Network] = Field([], max_length=20)
    expires_at: AwareDatetime | None = None


class ApiKeyResponse(Schema):
    model_config = ConfigDict(from_attributes=True)

    id: int
    name: str
    prefix: str
    role: Role
    scopes: list[KeyScope]
    networks: list[str]
    expires_at: datetime | None
    created_by: int | None
    created_at: datetime
    last_used_at: datetime | None
    archived_at: datetime | None


class ApiKeyCreated(ApiKeyResponse):
    """``key`` is the secret and is returned only once."""

    key: str


class ApiKeyList(Schema):
    api_keys: list[ApiKeyResponse]


class MemberResponse(Schema):
    """``api_keys``: names of the active keys that the person created. They end when the person is removed or is no longer
    an admin. ``has_identity``: linked to the organization's identity provider."""

    user_id: int
    email: str
    name: str | None
    role: Role
    created_at: datetime
    api_keys: list[str]
    has_second_factor: bool
    has_identity: bool


class MemberList(Schema):
    members: list[MemberResponse]
