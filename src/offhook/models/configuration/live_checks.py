"""Asks vendors, all at once, if configured keys work."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from offhook.models.catalog import VendorCatalog
from offhook.models.configuration.resolution import ResolvedModels
from offhook.models.ports import ModelError
from offhook.models.vendors import Kind, ModelChoice

CHECK_TIMEOUT_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class AccessCheckResult:
    provider: str
    model: str
    ok: bool
    code: str | None
    message: str | None
    latency_ms: int


async def check_all(catalog: VendorCatalog, chosen: ResolvedModels) -> Mapping[Kind, list[AccessCheckResult]]:
    """Returns the result of every choice by kind, in order; each vendor has 10 s to answer."""
    choices = chosen.every_choice()
    results = await asyncio.gather(*(_check_choice(catalog, choice) for choice in choices))
    by_kind: dict[Kind, list[AccessCheckResult]] = {kind: [] for kind in chosen.by_kind}
    for choice, result in zip(choices, results, strict=True):
        by_kind.setdefault(choice.kind, []).append(result)
    return by_kind


async def _check_choice(catalog: VendorCatalog, choice: ModelChoice) -> AccessCheckResult:
    loop = asyncio.get_running_loop()
    began = loop.time()
    code = message = None
    try:
        async with asyncio.timeout(CHECK_TIMEOUT_S):
            await catalog.find_vendor(choice.kind, choice.provider).check(choice)
    except ModelError as error:
        code, message = error.code, str(error)
    except TimeoutError:
        code, message = f"{choice.kind}_timeout", f"No answer for {CHECK_TIMEOUT_S:g} s."
    return AccessCheckResult(
        choice.provider, choice.model, code is None, code, message, round((loop.time() - began) * 1000)
    )
