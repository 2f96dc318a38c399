"""Tables of carrier accounts and their numbers, refused calls, pending transfers, and webhooks already seen."""

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    String,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.database.database import Base
from offhook.kit.json_values import JsonObject


class TelephonyConfiguration(Base):
    """``config`` holds the plain fields (for sandbox: ``{"mix": {"talks": 0.7, …}}``), ``secrets`` the rest, encrypted.

    ``account_reference``: this account's name in the carrier's webhooks. ``is_managed``: the platform's own account,
    whose credentials are the installation's settings. ``verified_at``: when the carrier last accepted the credentials of
    this reference; an account that was never verified claims no number and receives no calls.
    """

    __tablename__ = "telephony_configurations"
    __table_args__ = (
        UniqueConstraint("organization_id", "name"),
        # The target of the foreign key of phone numbers.
        UniqueConstraint("id", "organization_id", "is_managed", name="uq_telephony_configurations_owner"),
        Index("ix_telephony_configurations_account", "provider", "account_reference"),
        Index(
            "uq_telephony_configurations_managed",
            "organization_id",
            unique=True,
            postgresql_where=text("is_managed AND parent_reference IS NULL"),
        ),
        Index(
            "uq_telephony_configurations_sub_account",
            "provider",
            "account_reference",
            unique=True,
            postgresql_where=text("parent_reference IS NOT NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(64))
    provider: Mapped[str] = mapped_column(String(32))
    config: Mapped[JsonObject] = mapped_column(server_default=text("'{}'::jsonb"))
    secrets: Mapped[bytes | None] = mapped_column(LargeBinary)
    account_reference: Mapped[str | None] = mapped_column(String(200))
    parent_reference: Mapped[str | None] = mapped_column(String(200))
    is_default_outbound: Mapped[bool] = mapped_column(server_default=text("false"))
    is_managed: Mapped[bool] = mapped_column(server_default=text("false"))
    verified_at: Mapped[datetime | None]
    inactive_since: Mapped[datetime | None]
    inactive_reason: Mapped[str | None] = mapped_column(String(500))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class PhoneNumber(Base):
    """A number of a carrier account. ``address_normalized``: E.164, a SIP URI, or an extension (``address_type``).

    ``is_managed``: bought with the platform's own account. ``existing_number`` forwards to it. The foreign key lets a
    managed account have managed numbers only, and every account only numbers of its own organization.
    """

    __tablename__ = "phone_numbers"
    __table_args__ = (
        UniqueConstraint("telephony_configuration_id", "address_normalized"),
        ForeignKeyConstraint(
            ["telephony_configuration_id", "organization_id", "is_managed"],
            [
                "telephony_configurations.id",
                "telephony_configurations.organization_id",
                "telephony_configurations.is_managed",
            ],
            name="fk_phone_numbers_account",
            ondelete="CASCADE",
        ),
        Index("ix_phone_numbers_address", "address_normalized"),
        Index("ix_phone_numbers_org", "organization_id", "id"),
        Index(
            "uq_phone_numbers_default_caller",
            "telephony_configuration_id",
            unique=True,
            postgresql_where=text("is_default_caller_id"),
        ),
        Index("uq_phone_numbers_primary", "organization_id", unique=True, postgresql_where=text("is_primary")),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    telephony_configuration_id: Mapped[int]
    address: Mapped[str] = mapped_column(String(255))
    address_normalized: Mapped[str] = mapped_column(String(255))
    address_type: Mapped[str] = mapped_column(String(16))
    country_code: Mapped[str | None] = mapped_column(String(2))
    label: Mapped[str | None] = mapped_column(String(64))
    inbound_workflow_id: Mapped[int | None] = mapped_column(ForeignKey("workflows.id", ondelete="SET NULL"), index=True)
    is_active: Mapped[bool] = mapped_column(server_default=text("true"))
    is_default_caller_id: Mapped[bool] = mapped_column(server_default=text("false"))
    extra_metadata: Mapped[JsonObject] = mapped_column(server_default=text("'{}'::jsonb"))
    is_managed: Mapped[bool] = mapped_column(server_default=text("false"))
    is_primary: Mapped[bool] = mapped_column(server_default=text("false"))
    existing_number: Mapped[str | None] = mapped_column(String(32))
    carrier_id: Mapped[str | None] = mapped_column(String(128))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class RefusedCall(Base):
    """A call to one of our numbers that no agent took. ``reason`` is a stable code, ``message`` the text that the
    caller heard."""

    __tablename__ = "refused_calls"
    __table_args__ = (
        UniqueConstraint("organization_id", "provider", "call_id"),
        Index("ix_refused_calls_org", "organization_id", "id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    telephony_configuration_id: Mapped[int | None] = mapped_column(
        ForeignKey("telephony_configurations.id", ondelete="SET NULL")
    )
    provider: Mapped[str] = mapped_column(String(32))
    call_id: Mapped[str] = mapped_column(String(128))
    caller_number: Mapped[str | None] = mapped_column(String(255))
    called_number: Mapped[str | None] = mapped_column(String(255))
    workflow_id: Mapped[int | None]
    reason: Mapped[str] = mapped_column(String(64))
    message: Mapped[str] = mapped_column(String(500))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class SeenWebhook(Base):
    """A signed request that arrived: the same nonce again is a duplicate with the same body and a forgery with
    another."""

    __tablename__ = "seen_webhooks"

    nonce_sha256: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    body_sha256: Mapped[bytes] = mapped_column(LargeBinary)
    received_at: Mapped[datetime] = mapped_column(server_default=func.now(), index=True)


class PendingTransfer(Base):
    """A warm transfer. ``state``: ringing, seating, answered, joined, failed, released or ended."""

    __tablename__ = "pending_transfers"

    transfer_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), index=True)
    telephony_configuration_id: Mapped[int | None]
    provider: Mapped[str] = mapped_column(String(32))
    call_id: Mapped[str] = mapped_column(String(128))
    to_number: Mapped[str] = mapped_column(String(32))
    destination_id: Mapped[str | None] = mapped_column(String(128))
    conference_id: Mapped[str | None] = mapped_column(String(128))
    state: Mapped[str] = mapped_column(String(16), server_default="ringing")
    reason: Mapped[str | None] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now(), index=True)
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class NumberPurchase(Base):
    """A number that the platform buys for an organization. ``state``: buying, bought, done, failed or released.

    Written before the carrier is asked, in the transaction that charges the organization: a charged purchase is found by
    its number and completed, or returned and refunded. ``telephony_configuration_id``: the sub-account that it is bought
    in; None for the platform's own account.
    """

    __tablename__ = "number_purchases"
    __table_args__ = (
        Index("ix_number_purchases_open", "updated_at", postgresql_where=text("state IN ('buying', 'bought')")),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    provider: Mapped[str] = mapped_column(String(32))
    phone_number: Mapped[str] = mapped_column(String(32))
    country: Mapped[str] = mapped_column(String(2))
    request: Mapped[JsonObject] = mapped_column(server_default=text("'{}'::jsonb"))
    state: Mapped[str] = mapped_column(String(16), server_default="buying")
    carrier_id: Mapped[str | None] = mapped_column(String(128))
    phone_number_id: Mapped[int | None]
    telephony_configuration_id: Mapped[int | None]
    charged_cents: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    error: Mapped[str | None] = mapped_column(String(500))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class ManagedCarrierSetting(Base):
    """The operator's settings of the platform's account at a carrier, by its reference (empty where it has none)."""

    __tablename__ = "managed_carrier_settings"

    provider: Mapped[str] = mapped_column(String(32), primary_key=True)
    account_reference: Mapped[str] = mapped_column(String(200), primary_key=True)
    uses_sub_accounts: Mapped[bool] = mapped_column(server_default=text("false"))
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class CarrierSubAccount(Base):
    """A sub-account of the platform's account, which one organization buys its numbers in. ``state``: creating, active,
    closing or closed.

    Written before the carrier is asked, with the ``name`` that the sub-account has there: one that was created and whose
    creation was not recorded is found by it. ``claimed_at``: when a process last began to create it; only the process
    with this claim records the result. ``emptied_at``: since when it has had no numbers.
    """

    __tablename__ = "carrier_sub_accounts"
    __table_args__ = (
        Index(
            "uq_carrier_sub_accounts_current",
            "organization_id",
            "provider",
            "parent_reference",
            unique=True,
            postgresql_where=text("state IN ('creating', 'active')"),
        ),
        Index("ix_carrier_sub_accounts_open", "id", postgresql_where=text("state <> 'closed'")),
        Index("ix_carrier_sub_accounts_configuration", "telephony_configuration_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("organizations.id", ondelete="CASCADE"))
    provider: Mapped[str] = mapped_column(String(32))
    parent_reference: Mapped[str] = mapped_column(String(200))
    name: Mapped[str] = mapped_column(String(64), unique=True)
    state: Mapped[str] = mapped_column(String(16), server_default="creating")
    account_reference: Mapped[str | None] = mapped_column(String(200))
    telephony_configuration_id: Mapped[int | None] = mapped_column(
        ForeignKey("telephony_configurations.id", ondelete="SET NULL")
    )
    error: Mapped[str | None] = mapped_column(String(500))
    claimed_at: Mapped[datetime | None]
    emptied_at: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
