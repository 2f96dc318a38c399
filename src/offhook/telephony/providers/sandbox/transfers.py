"""Transfers callers in the simulated network: its numbers answer a transfer as they answer a call."""

import asyncio
import secrets
from typing import Final

from offhook.telephony.ports import CarrierAccount, CarrierFailed
from offhook.telephony.providers.sandbox.config import SandboxConfig

SETUP_S: Final = 0.2


class SandboxTransfers:
    """Implements ``ports.CallTransferrer``. After :meth:`connect_caller` the two phones talk without us:
    ``connected`` by call id."""

    def __init__(self) -> None:
        self._answered: dict[str, str] = {}
        self.connected: dict[str, str] = {}

    async def ring_destination(self, account: CarrierAccount, call_id: str, to_number: str, timeout_s: float) -> str:
        config = SandboxConfig.model_validate(dict(account.config))
        behavior = config.behavior_of(to_number)
        await asyncio.sleep(SETUP_S)
        if behavior == "busy":
            await asyncio.sleep(config.ring_s / 2)
            raise CarrierFailed("busy", "The destination is busy.", retryable=True)
        if behavior == "no_answer" or config.ring_s > timeout_s:
            await asyncio.sleep(min(config.no_answer_after_s, timeout_s))
            raise CarrierFailed("no_answer", "The destination does not answer.", retryable=True)
        await asyncio.sleep(config.ring_s)
        destination_id = f"SB{secrets.token_hex(16)}"
        self._answered[destination_id] = to_number
        return destination_id

    async def connect_caller(self, account: CarrierAccount, call_id: str, destination_id: str) -> None:
        number = self._answered.pop(destination_id, None)
        if number is None:
            raise CarrierFailed("destination_gone", "The destination has hung up.", retryable=False)
        self.connected[call_id] = number

    async def release_destination(self, account: CarrierAccount, destination_id: str) -> None:
        self._answered.pop(destination_id, None)
