"""Organizations, their people and their credentials."""

from datetime import datetime
from decimal import Decimal

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    Numeric,
    String,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base
from offhook.kit.json_values import JsonObject


class Organization(Base):
    __tablename__ = "organizations"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    time_zone: Mapped[str] = mapped_column(String(64), server_default="UTC")
    concurrency_limit: Mapped[int | None]
    test_phone_number: Mapped[str | None] = mapped_column(String(32))
    # Whether superusers who act as one of its people may change something.
    support_may_write: Mapped[bool] = mapped_column(server_default=text("false"))
    # From then on members need a second factor; null: nobody needs one.
    second_factor_due_at: Mapped[datetime | None]
    # Since when nobody gets in and nothing begins: a job deletes it.
    closed_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class User(Base):
    __tablename__ = "users"
    __table_args__ = (Index("uq_users_email_lower", text("lower(email)"), unique=True),)

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(320))
    name: Mapped[str | None] = mapped_column(String(200))
    password_hash: Mapped[str | None]
    is_superuser: Mapped[bool] = mapped_column(server_default=text("false"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class Member(Base):
    __tablename__ = "members"

    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class UserSession(Base):
    """A signed-in browser or program; the token itself is never stored."""

    __tablename__ = "user_sessions"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    token_sha256: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    impersonator_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    # Opened by the organization's identity provider: it never reaches beyond the organization.
    by_provider: Mapped[bool] = mapped_column(server_default=text("false"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class SecondFactor(Base):
    """The authenticator app of a person, from the first code that was right (``confirmed_at``) on.

    ``last_step`` is the time step of the newest code that was accepted: neither it nor an older one is accepted again.
    """

    __tablename__ = "second_factors"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    sealed_secret: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    confirmed_at: Mapped[datetime | None]
    last_step: Mapped[int | None] = mapped_column(BigInteger)


class RecoveryCode(Base):
    """Stands in for one code of a lost authenticator app; spent by an UPDATE … WHERE used_at IS NULL."""

    __tablename__ = "recovery_codes"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    code_sha256: Mapped[bytes] = mapped_column(LargeBinary)
    used_at: Mapped[datetime | None]


class SignInChallenge(Base):
    """A sign-in that passed its first step and waits for a code.

    ``action`` is the first step as the audit log names it; ``password_hash`` the new password that a link set, which takes
    effect with the second step.
    """

    __tablename__ = "sign_in_challenges"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    token_sha256: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    action: Mapped[str] = mapped_column(String(64))
    password_hash: Mapped[str | None]
    by_provider: Mapped[bool] = mapped_column(server_default=text("false"))
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]


class IdentityProvider(Base):
    """Where an organization's members sign in (OpenID Connect); one for each organization."""

    __tablename__ = "identity_providers"

    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True)
    sign_in_name: Mapped[str] = mapped_column(String(63), unique=True)
    issuer: Mapped[str] = mapped_column(String(500))
    client_id: Mapped[str] = mapped_column(String(255))
    sealed_secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    email_domains: Mapped[list[str]] = mapped_column(ARRAY(String(255)))
    # The role of people without an account; null: members and invited people only.
    joins_as: Mapped[str | None] = mapped_column(String(16))
    is_required: Mapped[bool] = mapped_column(server_default=text("false"))
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class MemberIdentity(Base):
    """A member as the organization's provider knows them; goes with the membership."""

    __tablename__ = "member_identities"
    __table_args__ = (
        UniqueConstraint("organization_id", "user_id"),
        UniqueConstraint("organization_id", "issuer", "subject"),
        ForeignKeyConstraint(
            ["organization_id", "user_id"], ["members.organization_id", "members.user_id"], ondelete="CASCADE"
        ),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int]
    user_id: Mapped[int]
    issuer: Mapped[str] = mapped_column(String(500))
    subject: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class ProviderSignInAttempt(Base):
    """A sign-in that waits for the provider's answer; spent by a DELETE with both hashes."""

    __tablename__ = "provider_sign_in_attempts"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    state_sha256: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    secret_sha256: Mapped[bytes] = mapped_column(LargeBinary)
    issuer: Mapped[str] = mapped_column(String(500))
    client_id: Mapped[str] = mapped_column(String(255))
    redirect_uri: Mapped[str] = mapped_column(String(2000))
    expires_at: Mapped[datetime] = mapped_column(index=True)


class SignupRequest(Base):
    """A stranger's request for an account. It becomes a user and an organization when the operator makes the link."""

    __tablename__ = "signup_requests"
    __table_args__ = (Index("uq_signup_requests_email_lower", text("lower(email)"), unique=True),)

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(320))
    name: Mapped[str | None] = mapped_column(String(200))
    organization_name: Mapped[str | None] = mapped_column(String(200))
    ip: Mapped[str | None] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class SignInLink(Base):
    """A one-time link; spent by an UPDATE … WHERE used_at IS NULL.

    With ``sets_password`` its holder chooses a new password, which ends the person's other sessions.
    """

    __tablename__ = "sign_in_links"

    id: Mapped[int] = mapped_column(primary_key=True)
    token_sha256: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    sets_password: Mapped[bool] = mapped_column(server_default=text("false"))
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class Invitation(Base):
    """Lets one person join once; spent by an UPDATE … WHERE accepted_at IS NULL AND revoked_at IS NULL."""

    __tablename__ = "invitations"
    __table_args__ = (Index("ix_invitations_org", "organization_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    email: Mapped[str] = mapped_column(String(320))
    name: Mapped[str | None] = mapped_column(String(200))
    role: Mapped[str] = mapped_column(String(16))
    token_sha256: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    invited_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime]
    accepted_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class ApiKey(Base):
    __tablename__ = "api_keys"
    __table_args__ = (Index("ix_api_keys_org", "organization_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))
    prefix: Mapped[str] = mapped_column(String(16))
    key_sha256: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    role: Mapped[str] = mapped_column(String(16), server_default="admin")
    # ``read``, ``call``, ``manage``: what it may do of that which its role may.
    scopes: Mapped[list[str]] = mapped_column(ARRAY(String(16)), server_default=text("'{read,call,manage}'"))
    # CIDR networks that it may be used from; empty: any.
    networks: Mapped[list[str]] = mapped_column(ARRAY(String(64)), server_default=text("'{}'"))
    expires_at: Mapped[datetime | None]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    last_used_at: Mapped[datetime | None]
    archived_at: Mapped[datetime | None]


class AuditEntry(Base):
    __tablename__ = "audit_entries"
    __table_args__ = (
        Index("ix_audit_entries_org", "organization_id", "id"),
        Index("ix_audit_entries_unsealed", "organization_id", "id", postgresql_where=text("seal IS NULL")),
        Index(
            "uq_audit_entries_position",
            "organization_id",
            "position",
            unique=True,
            postgresql_where=text("position IS NOT NULL"),
            postgresql_nulls_not_distinct=True,
        ),
        CheckConstraint("num_nulls(position, previous_seal, seal) IN (0, 3)", name="sealed_as_a_whole"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int | None] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    actor_user_id: Mapped[int | None]
    actor_key_id: Mapped[int | None]
    impersonator_id: Mapped[int | None]
    action: Mapped[str] = mapped_column(String(64))
    target: Mapped[str | None] = mapped_column(String(200))
    ip: Mapped[str | None] = mapped_column(String(64))
    data: Mapped[JsonObject] = mapped_column(server_default=text("'{}'::jsonb"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    # The place in the chain of its organization, given by a job after the commit; see ``audit_trail.chain``.
    position: Mapped[int | None] = mapped_column(BigInteger)
    previous_seal: Mapped[bytes | None] = mapped_column(LargeBinary)
    seal: Mapped[bytes | None] = mapped_column(LargeBinary)


class AuditCheckpoint(Base):
    """Where an organization's audit log begins after its oldest entries were removed: the position and seal of the last of
    them. ``entries``: how many were removed in all."""

    __tablename__ = "audit_checkpoints"

    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True)
    last_position: Mapped[int] = mapped_column(BigInteger)
    last_seal: Mapped[bytes] = mapped_column(LargeBinary)
    entries: Mapped[int] = mapped_column(BigInteger)
    trimmed_at: Mapped[datetime]


class DoNotCallEntry(Base):
    """A number that the organization must not dial. ``source``: ``manual``, ``import``,
    ``call`` (requested on a call).
    """

    __tablename__ = "do_not_call_entries"
    __table_args__ = (
        UniqueConstraint("organization_id", "phone_number"),
        Index("ix_do_not_call_entries_org", "organization_id", "id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    phone_number: Mapped[str] = mapped_column(String(32))
    reason: Mapped[str | None] = mapped_column(String(500))
    source: Mapped[str] = mapped_column(String(32))
    # The run on which the caller asked. No foreign key: runs are above this domain and may be deleted.
    run_id: Mapped[int | None] = mapped_column(BigInteger)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class IdempotencyKey(Base):
    """The answer to a repeatable request; ``response`` is null while the first one is in progress."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (UniqueConstraint("organization_id", "scope", "key"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    scope: Mapped[str] = mapped_column(String(100))
    key: Mapped[str] = mapped_column(String(255))
    body_sha256: Mapped[bytes] = mapped_column(LargeBinary)
    response: Mapped[JsonObject | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now(), index=True)


class StoredCallPolicy(Base):
    """Where an organization's calls may go, and how often one caller may call; see ``call_policy.rules``."""

    __tablename__ = "call_policies"

    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True)
    countries: Mapped[list[str] | None] = mapped_column(ARRAY(String(2)))
    allows_premium: Mapped[bool] = mapped_column(server_default=text("false"))
    allows_satellite: Mapped[bool] = mapped_column(server_default=text("false"))
    allows_high_risk: Mapped[bool] = mapped_column(server_default=text("false"))
    max_cents_per_minute: Mapped[Decimal | None] = mapped_column(Numeric(10, 4))
    max_live_calls_per_caller: Mapped[int | None]
    max_hourly_calls_per_caller: Mapped[int | None]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class BlockedCaller(Base):
    """A number whose inbound calls are refused."""

    __tablename__ = "blocked_callers"
    __table_args__ = (UniqueConstraint("organization_id", "phone_number"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    phone_number: Mapped[str] = mapped_column(String(32))
    reason: Mapped[str | None] = mapped_column(String(500))
    created_by: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class StoredPrivacySettings(Base):
    """How many days an organization keeps what its calls leave; null keeps it. ``…_swept_until``: runs that were created
    before it have been swept."""

    __tablename__ = "privacy_settings"

    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True)
    recordings_days: Mapped[int | None]
    transcripts_days: Mapped[int | None]
    runs_days: Mapped[int | None]
    # Since the end of a campaign.
    contacts_days: Mapped[int | None]
    audit_days: Mapped[int | None]
    recordings_swept_until: Mapped[datetime | None]
    transcripts_swept_until: Mapped[datetime | None]
    runs_swept_until: Mapped[datetime | None]
    # What is redacted in what is said on calls.
    redacted_kinds: Mapped[list[str]] = mapped_column(ARRAY(String(16)), server_default=text("'{}'"))
    redacted_names: Mapped[list[str]] = mapped_column(ARRAY(String(100)), server_default=text("'{}'"))
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class StoredDataKey(Base):
    """A key that encrypts files of the organization, sealed with the installation's key; the highest number is used for new
    files."""

    __tablename__ = "data_keys"

    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    sealed_key: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    sealed_at: Mapped[datetime] = mapped_column(server_default=func.now())
