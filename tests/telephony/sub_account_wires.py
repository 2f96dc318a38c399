"""What the tests of sub-accounts have to know of each carrier's wire."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import quote

from offhook_lab.carriers import OutgoingCallback, PlivoEmulator, TelnyxEmulator, TwilioEmulator, VonageEmulator
from offhook_lab.carriers.core.callbacks import form_callback, json_callback
from offhook_lab.carriers.core.sub_accounts import EmulatedSubAccount, SubAccountEmulator

_RUN_URL = re.compile(r"(?P<path>.*/telephony/\w+/[\w-]+)/\d+(\?.*)?")


@dataclass(frozen=True)
class Wire:
    """``creations``, ``lookups``, ``closings`` (with the sub-account's ``reference``) and ``purchases`` are patterns of
    requests for faults, ``setups`` those of what a new sub-account needs, ``dials`` how a call is placed, ``asks`` the kind of callback that asks us about an inbound call.
    ``retell`` returns that callback as another account, whose ``credentials`` are given, would send it of a call of its
    own. ``closed`` is the status of a closed sub-account. ``has_keys_once``: only the answer to a creation has the keys,
    so that of an interrupted one a suspended sub-account stays."""

    build: Callable[[], SubAccountEmulator]
    creations: str
    lookups: str
    closings: str
    purchases: str
    setups: tuple[str, ...]
    dials: tuple[str, str]
    asks: str
    retell: Callable[[OutgoingCallback, dict[str, str]], OutgoingCallback]
    closed: str = "closed"
    has_keys_once: bool = False

    def only_one(self, carrier: SubAccountEmulator) -> EmulatedSubAccount:
        """The active sub-account, which is the only one; there are others only where interrupted ones stay suspended."""
        found = list(carrier.sub_accounts.values())
        if self.has_keys_once:
            found = [one for one in found if one.status != "suspended"]
        (only,) = found
        assert only.status == "active"
        return only


def is_about_a_run(callback: OutgoingCallback) -> bool:
    return _RUN_URL.fullmatch(callback.url) is not None


def about_another_run(callback: OutgoingCallback, run_id: int, secret: str) -> OutgoingCallback:
    """The same report, sent to the address of another run."""
    found = _RUN_URL.fullmatch(callback.url)
    assert found is not None
    return replace(callback, url=f"{found['path']}/{run_id}?token={secret}")


def _form_of_another(asked: OutgoingCallback, url: str, **fields: str) -> OutgoingCallback:
    form = [(name, fields.get(name, value)) for name, value in asked.form]
    return form_callback(asked.kind, url, form, call_id=asked.call_id)


def _event_of_another(asked: OutgoingCallback, connection_id: str) -> OutgoingCallback:
    body = asked.json
    body["data"]["payload"] |= {"call_control_id": "other", "connection_id": connection_id}
    return json_callback(asked.kind, asked.url, body, call_id=asked.call_id)


def _answer_of_another(asked: OutgoingCallback) -> OutgoingCallback:
    return json_callback(asked.kind, asked.url, {**asked.json, "uuid": "other"}, call_id=asked.call_id)


WIRES = {
    "twilio": Wire(
        build=TwilioEmulator,
        creations="POST */Accounts.json",
        lookups="GET */Accounts.json",
        closings="POST */Accounts/{reference}.json",
        purchases="POST *IncomingPhoneNumbers*",
        setups=(),
        dials=("POST", "/Calls.json"),
        asks="answer",
        retell=lambda asked, other: _form_of_another(
            asked, asked.url, CallSid="CAother", AccountSid=other["account_sid"]
        ),
    ),
    "telnyx": Wire(
        build=TelnyxEmulator,
        creations="POST */managed_accounts",
        lookups="GET */managed_accounts",
        closings="POST */managed_accounts/{reference}/actions/disable",
        purchases="POST */number_orders",
        setups=("GET */public_key", "POST */outbound_voice_profiles", "POST */call_control_applications"),
        dials=("POST", "/v2/calls"),
        asks="event:call.initiated",
        retell=lambda asked, other: _event_of_another(asked, other["connection_id"]),
    ),
    "plivo": Wire(
        build=PlivoEmulator,
        creations="POST */Subaccount/",
        lookups="GET */Subaccount/",
        closings="DELETE */Subaccount/{reference}/",
        purchases="POST */PhoneNumber/*",
        setups=("POST */Application/",),
        dials=("POST", "/Call/"),
        asks="answer",
        retell=lambda asked, other: _form_of_another(
            asked, asked.url.partition("?")[0] + f"?account={quote(other['auth_id'])}", CallUUID="other"
        ),
    ),
    "vonage": Wire(
        build=VonageEmulator,
        creations="POST */subaccounts",
        lookups="GET */subaccounts",
        closings="PATCH */subaccounts/{reference}",
        purchases="POST */number/buy",
        setups=("GET */v2/applications/*", "POST */v2/applications"),
        dials=("POST", "/v1/calls"),
        asks="answer",
        # its signature names the account
        retell=lambda asked, other: _answer_of_another(asked),
        closed="suspended",
        has_keys_once=True,
    ),
}
