"""An organization's own prices, which override the published table."""

from datetime import date
from decimal import Decimal

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.errors import Forbidden, NotFound
from offhook.models.prices import repository
from offhook.models.prices.calculation import PriceList
from offhook.models.prices.ports import BillingPolicy
from offhook.models.prices.published_prices import Price, price_table
from offhook.models.prices.schemas import OwnPriceRequest, PriceItem
from offhook.orgs import Caller, write_audit_entry


class OwnPriceNotFound(NotFound):
    """Your organization has no price of its own for this model from this day on."""

    code = "price_not_found"


class PricesLocked(Forbidden):
    """These prices are what your calls are charged. Only a superuser can change them."""

    code = "prices_locked"


async def price_list(session: AsyncSession, organization_id: int) -> PriceList:
    """Returns the prices that apply to this organization."""
    return PriceList(await _load_own_prices(session, organization_id))


async def list_prices(session: AsyncSession, organization_id: int) -> list[PriceItem]:
    own = await _load_own_prices(session, organization_id)
    return [_price_item(price, is_own=True) for price in own] + [
        _price_item(price, is_own=False) for price in price_table()
    ]


async def set_own_price(
    session: AsyncSession, charging: BillingPolicy, caller: Caller, asked: OwnPriceRequest
) -> PriceItem:
    """Sets a price from its day on; finished runs keep their cost. Raises PricesLocked (403)."""
    await _check_allowed(session, charging, caller)
    values = {name: getattr(asked, name) for name in ("kind", "provider", "model", "valid_from", "step")}
    await repository.upsert_own_price(session, caller.organization_id, {**values, "dollars": asked.amounts_by_key()})
    await write_audit_entry(
        session,
        caller,
        "price.set",
        _audit_target(asked.kind, asked.provider, asked.model),
        asked.model_dump(mode="json"),
    )
    dollars = {name: Decimal(amount) for name, amount in asked.amounts_by_key().items()}
    price = Price(asked.valid_from, asked.kind, asked.provider, asked.model, dollars, asked.step)
    return _price_item(price, is_own=True)


async def remove_own_price(
    session: AsyncSession,
    charging: BillingPolicy,
    caller: Caller,
    *,
    kind: str,
    provider: str,
    model: str,
    valid_from: date,
) -> None:
    """Deletes an own price. Raises OwnPriceNotFound (404), PricesLocked (403)."""
    await _check_allowed(session, charging, caller)
    if not await repository.delete_own_price(session, caller.organization_id, kind, provider, model, valid_from):
        raise OwnPriceNotFound
    data = {"valid_from": valid_from.isoformat()}
    await write_audit_entry(session, caller, "price.removed", _audit_target(kind, provider, model), data)


async def _check_allowed(session: AsyncSession, charging: BillingPolicy, caller: Caller) -> None:
    # Where calls are charged, these prices are money: organizations cannot set what they pay.
    if caller.is_superuser and caller.impersonator_id is None:
        return
    if await charging.is_enforced(session, caller.organization_id):
        raise PricesLocked


def _audit_target(kind: str, provider: str, model: str) -> str:
    return f"price:{kind}/{provider}/{model}"


async def _load_own_prices(session: AsyncSession, organization_id: int) -> list[Price]:
    return [
        Price(
            since=row.valid_from,
            kind=row.kind,
            provider=row.provider,
            model=row.model,
            dollars={name: Decimal(amount) for name, amount in row.dollars.items()},
            step=row.step,
        )
        for row in await repository.own_prices(session, organization_id)
    ]


def _price_item(price: Price, *, is_own: bool) -> PriceItem:
    return PriceItem.model_validate(
        {
            "kind": price.kind,
            "provider": price.provider,
            "model": price.model,
            "valid_from": price.since,
            "step": price.step,
            "is_own": is_own,
            "is_estimate": price.is_estimate,
            "source": "organization" if is_own else price.source,
            "seen": price.seen,
            **price.dollars,
        }
    )
