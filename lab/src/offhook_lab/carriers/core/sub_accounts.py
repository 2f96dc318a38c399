"""Carriers with sub-accounts: which account asks, owns a number, has a call, and signs a callback."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from offhook.kit.clock import Clock
from offhook_lab.carriers.core.callbacks import OutgoingCallback
from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.emulator import CarrierEmulator
from offhook_lab.carriers.core.phones import Voice, hum_words
from offhook_lab.carriers.core.rest import RestRequest


@dataclass(slots=True)
class EmulatedSubAccount:
    """A sub-account. ``secret`` authorizes its requests, ``keys`` are the carrier's others. ``status``: active, suspended
    or closed."""

    reference: str
    secret: str
    name: str
    status: str = "active"
    keys: dict[str, Any] = field(default_factory=dict)


class SubAccountEmulator(CarrierEmulator):
    """Base class of carriers with sub-accounts. Accounts are named by the carrier's id of them; the emulator's own is the
    parent of the others."""

    def __init__(self, *, clock: Clock | None = None, voice: Voice = hum_words) -> None:
        super().__init__(clock=clock, voice=voice)
        # by reference; closed ones stay
        self.sub_accounts: dict[str, EmulatedSubAccount] = {}
        self.refuses_sub_accounts = False
        # the emulator's own account is the sub-account of another one
        self.is_sub_account = False

    @property
    @abstractmethod
    def account_reference(self) -> str:
        """Returns the id of the emulator's own account."""

    @abstractmethod
    def account_asking(self, request: RestRequest) -> str | None:
        """Returns the account whose credentials the request bears; None for wrong ones and for a closed account."""

    @abstractmethod
    def sign_as(self, account: str, callback: OutgoingCallback, keys_of: str | None = None) -> Mapping[str, str]:
        """Returns the headers of a callback about this account, proved with its keys or with those of another account."""

    @abstractmethod
    def credentials_of(self, sub_account: EmulatedSubAccount) -> dict[str, str]:
        """Returns what the emulator knows of a sub-account in the field names of Offhook's telephony configuration."""

    def find_active(self, reference: str) -> EmulatedSubAccount | None:
        found = self.sub_accounts.get(reference)
        return found if found is not None and found.status == "active" else None

    def account_of_number(self, e164: str) -> str:
        found = self.numbers.get(e164)
        return (found.owner if found is not None else "") or self.account_reference

    def is_own_number(self, request: RestRequest, number: str) -> bool:
        """Returns whether the account that asks has this number."""
        return number in self.numbers and self.account_of_number(number) == self.account_asking(request)

    def calls_seen(self, request: RestRequest) -> list[EmulatedCall]:
        """Returns the calls of the account that asks."""
        account = self.account_asking(request)
        return [call for call in self.calls if self.account_of_call(call) == account]

    def find_call_seen(self, request: RestRequest) -> EmulatedCall | None:
        """Returns the call whose id is in the path if it is one of the account that asks."""
        return next((call for call in self.calls_seen(request) if call.id == request.parts["id"]), None)

    def account_of_call(self, call: EmulatedCall) -> str:
        """Returns the account whose call it is: of the caller's for ours, of the called number's else."""
        ours = call.to_number if call.direction == "inbound" else call.from_number
        return str(call.extra.setdefault("account", self.account_of_number(ours)))

    def account_of_callback(self, callback: OutgoingCallback) -> str:
        call = self.find_call(callback.call_id)
        return self.account_of_call(call) if call is not None else self.account_reference

    def sign_callback(self, callback: OutgoingCallback) -> Mapping[str, str]:
        return self.sign_as(self.account_of_callback(callback), callback)

    def end_account(self, sub_account: EmulatedSubAccount) -> None:
        """Closes a sub-account, which loses its numbers and calls."""
        sub_account.status = "closed"
        for e164 in [one for one in self.numbers if self.account_of_number(one) == sub_account.reference]:
            del self.numbers[e164]
        for call in self.calls:
            if self.account_of_call(call) == sub_account.reference:
                call.end("failed", "carrier")
