"""Queries on carrier accounts and their numbers. Every read takes the organization; the exceptions state their
reason."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import exists, func, select, update
from sqlalchemy.dialects.postgresql import aggregate_order_by, insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.records import carrier_call_queries
from offhook.telephony.errors import ConfigurationNotFound
from offhook.telephony.tables import PhoneNumber, RefusedCall, TelephonyConfiguration

PSTN: Final = "pstn"


@dataclass(frozen=True, slots=True)
class NumberFacts:
    """The active telephone numbers of an account and its default caller ID."""

    active: tuple[str, ...]
    default: str | None


async def find_configuration(
    session: AsyncSession, organization_id: int, configuration_id: int, *, is_locked: bool = False
) -> TelephonyConfiguration | None:
    query = select(TelephonyConfiguration).where(
        TelephonyConfiguration.id == configuration_id, TelephonyConfiguration.organization_id == organization_id
    )
    found = await session.execute(query.with_for_update() if is_locked else query)
    return found.scalar_one_or_none()


async def get_configuration(
    session: AsyncSession, organization_id: int, configuration_id: int, *, is_locked: bool = False
) -> TelephonyConfiguration:
    """Returns the account. Raises ConfigurationNotFound (404)."""
    row = await find_configuration(session, organization_id, configuration_id, is_locked=is_locked)
    if row is None:
        raise ConfigurationNotFound
    return row


async def list_configurations(session: AsyncSession, organization_id: int) -> Sequence[TelephonyConfiguration]:
    found = await session.execute(
        select(TelephonyConfiguration)
        .where(TelephonyConfiguration.organization_id == organization_id)
        .order_by(TelephonyConfiguration.id)
    )
    return found.scalars().all()


async def lock_configurations(session: AsyncSession, organization_id: int) -> None:
    """Serializes the transactions that add the accounts which appear in every list, or choose the primary number."""
    key = func.hashtext("offhook.telephony.built_in")
    await session.execute(select(func.pg_advisory_xact_lock(key, organization_id)))


async def default_for_dialing(session: AsyncSession, organization_id: int) -> TelephonyConfiguration | None:
    """Returns the account marked as default; the oldest one when several are."""
    found = await session.execute(
        select(TelephonyConfiguration)
        .where(
            TelephonyConfiguration.organization_id == organization_id,
            TelephonyConfiguration.is_default_outbound.is_(True),
        )
        .order_by(TelephonyConfiguration.id)
        .limit(1)
    )
    return found.scalar_one_or_none()


async def oldest_of(session: AsyncSession, organization_id: int, provider: str) -> TelephonyConfiguration | None:
    found = await session.execute(
        select(TelephonyConfiguration)
        .where(TelephonyConfiguration.organization_id == organization_id, TelephonyConfiguration.provider == provider)
        .order_by(TelephonyConfiguration.inactive_since.is_not(None), TelephonyConfiguration.id)
        .limit(1)
    )
    return found.scalar_one_or_none()


async def find_managed(session: AsyncSession, organization_id: int) -> TelephonyConfiguration | None:
    """Returns the organization's row for the platform's own account."""
    found = await session.execute(
        select(TelephonyConfiguration).where(
            TelephonyConfiguration.organization_id == organization_id,
            TelephonyConfiguration.is_managed,
            TelephonyConfiguration.parent_reference.is_(None),
        )
    )
    return found.scalar_one_or_none()


async def unset_default(session: AsyncSession, organization_id: int, except_id: int | None) -> None:
    await session.execute(
        update(TelephonyConfiguration)
        .where(
            TelephonyConfiguration.organization_id == organization_id,
            TelephonyConfiguration.is_default_outbound.is_(True),
            TelephonyConfiguration.id != (except_id or 0),
        )
        .values(is_default_outbound=False)
    )


async def accounts_at_carrier(
    session: AsyncSession, provider: str, reference: str, called: Collection[str] = ()
) -> Sequence[TelephonyConfiguration]:
    """Returns the accounts with this reference in every organization: a carrier's webhook names its account, and its
    signature is verified next. All organizations may share the platform's account: those with a number in ``called`` are
    returned alone, if there are any."""
    accounts = (
        select(TelephonyConfiguration)
        .where(TelephonyConfiguration.provider == provider, TelephonyConfiguration.account_reference == reference)
        .order_by(TelephonyConfiguration.id)
        .limit(100)
    )
    if called:
        has_number = exists().where(
            PhoneNumber.telephony_configuration_id == TelephonyConfiguration.id,
            PhoneNumber.address_normalized.in_(called),
        )
        found = (await session.scalars(accounts.where(has_number))).all()
        if found:
            return found
    return (await session.scalars(accounts)).all()


async def accounts_with_call(
    session: AsyncSession, provider: str, reference: str, call_id: str | None
) -> Sequence[TelephonyConfiguration]:
    """Returns the accounts with this reference of the organizations that have the call; all of them if none has it."""
    organization_ids = await carrier_call_queries.organizations_with_call(session, provider, call_id) if call_id else ()
    if organization_ids:
        found = await session.scalars(
            select(TelephonyConfiguration)
            .where(
                TelephonyConfiguration.provider == provider,
                TelephonyConfiguration.account_reference == reference,
                TelephonyConfiguration.organization_id.in_(organization_ids),
            )
            .order_by(TelephonyConfiguration.id)
        )
        if rows := found.all():
            return rows
    return await accounts_at_carrier(session, provider, reference)


# numbers


async def number_facts(session: AsyncSession, organization_id: int, configuration_id: int) -> NumberFacts:
    """Returns one row, regardless of how many numbers there are."""
    address = PhoneNumber.address_normalized
    found = await session.execute(
        select(
            func.array_agg(aggregate_order_by(address, PhoneNumber.id)),
            func.max(address).filter(PhoneNumber.is_default_caller_id),
        ).where(
            PhoneNumber.organization_id == organization_id,
            PhoneNumber.telephony_configuration_id == configuration_id,
            PhoneNumber.is_active,
            PhoneNumber.address_type == PSTN,
        )
    )
    active, default = found.one()
    return NumberFacts(tuple(active or ()), default)


async def find_number(
    session: AsyncSession, organization_id: int, number_id: int, *, configuration_id: int | None = None
) -> PhoneNumber | None:
    query = select(PhoneNumber).where(PhoneNumber.id == number_id, PhoneNumber.organization_id == organization_id)
    if configuration_id is not None:
        query = query.where(PhoneNumber.telephony_configuration_id == configuration_id)
    return (await session.execute(query)).scalar_one_or_none()


async def list_numbers(session: AsyncSession, organization_id: int, configuration_id: int) -> Sequence[PhoneNumber]:
    found = await session.execute(
        select(PhoneNumber)
        .where(
            PhoneNumber.organization_id == organization_id, PhoneNumber.telephony_configuration_id == configuration_id
        )
        .order_by(PhoneNumber.id)
    )
    return found.scalars().all()


async def number_counts(session: AsyncSession, organization_id: int) -> dict[int, tuple[int, int]]:
    """Returns ``(all numbers, numbers that can place calls)`` by account."""
    can_call = PhoneNumber.is_active & (PhoneNumber.address_type == PSTN)
    found = await session.execute(
        select(PhoneNumber.telephony_configuration_id, func.count(), func.count().filter(can_call))
        .where(PhoneNumber.organization_id == organization_id)
        .group_by(PhoneNumber.telephony_configuration_id)
    )
    return {row[0]: (row[1], row[2]) for row in found}


async def unset_default_caller(session: AsyncSession, organization_id: int, configuration_id: int) -> None:
    await session.execute(
        update(PhoneNumber)
        .where(
            PhoneNumber.organization_id == organization_id,
            PhoneNumber.telephony_configuration_id == configuration_id,
            PhoneNumber.is_default_caller_id,
        )
        .values(is_default_caller_id=False)
    )


async def unset_primary(session: AsyncSession, organization_id: int) -> None:
    await session.execute(
        update(PhoneNumber)
        .where(PhoneNumber.organization_id == organization_id, PhoneNumber.is_primary)
        .values(is_primary=False)
    )


async def is_routed_elsewhere(session: AsyncSession, account: TelephonyConfiguration, address: str) -> bool:
    """Returns True if another row has this number at the same account of the carrier, so that a call could go to
    either. An account that the carrier never verified claims nothing: anybody can enter the name of another's.

    Deliberately looks at all organizations, without disclosing which one it is.
    """
    if account.account_reference is None:
        return False
    found = await session.execute(
        select(PhoneNumber.id)
        .join(TelephonyConfiguration, TelephonyConfiguration.id == PhoneNumber.telephony_configuration_id)
        .where(
            TelephonyConfiguration.provider == account.provider,
            TelephonyConfiguration.account_reference == account.account_reference,
            TelephonyConfiguration.id != account.id,
            TelephonyConfiguration.verified_at.is_not(None),
            PhoneNumber.address_normalized == address,
        )
        .limit(1)
    )
    return found.scalar_one_or_none() is not None


async def number_countries(session: AsyncSession, configuration_ids: Collection[int]) -> set[str]:
    """Returns the countries of the numbers of these accounts, which were found by a webhook's account reference."""
    found = await session.execute(
        select(PhoneNumber.country_code)
        .where(PhoneNumber.telephony_configuration_id.in_(configuration_ids), PhoneNumber.country_code.is_not(None))
        .distinct()
        .limit(20)
    )
    return {code for code in found.scalars() if code}


async def find_called_number(
    session: AsyncSession, configuration_ids: Collection[int], addresses: Collection[str]
) -> PhoneNumber | None:
    """Returns the active number that was called. The accounts were found by a webhook whose signature was verified."""
    found = await session.execute(
        select(PhoneNumber)
        .where(
            PhoneNumber.telephony_configuration_id.in_(configuration_ids),
            PhoneNumber.address_normalized.in_(addresses),
            PhoneNumber.is_active,
        )
        .order_by(PhoneNumber.id)
        .limit(1)
    )
    return found.scalar_one_or_none()


async def find_refusal(session: AsyncSession, organization_id: int, provider: str, call_id: str) -> RefusedCall | None:
    """Returns the refusal of this call, if it was refused before."""
    found: RefusedCall | None = await session.scalar(
        select(RefusedCall).where(
            RefusedCall.organization_id == organization_id,
            RefusedCall.provider == provider,
            RefusedCall.call_id == call_id,
        )
    )
    return found


async def write_refusal(session: AsyncSession, account: TelephonyConfiguration, values: Mapping[str, Any]) -> None:
    await session.execute(
        insert(RefusedCall)
        .values(
            organization_id=account.organization_id,
            telephony_configuration_id=account.id,
            provider=account.provider,
            **values,
        )
        .on_conflict_do_nothing()
    )


async def list_refused_calls(
    session: AsyncSession, organization_id: int, *, limit: int, offset: int
) -> tuple[Sequence[RefusedCall], int]:
    """Returns the refused calls, newest first, and their total."""
    total = await session.scalar(
        select(func.count()).select_from(RefusedCall).where(RefusedCall.organization_id == organization_id)
    )
    found = await session.execute(
        select(RefusedCall)
        .where(RefusedCall.organization_id == organization_id)
        .order_by(RefusedCall.id.desc())
        .limit(limit)
        .offset(offset)
    )
    return found.scalars().all(), int(total or 0)
