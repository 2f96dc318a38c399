"""What the tests of sub-accounts have to know of each carrier's wire."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import quote

from offhook_lab.carriers import OutgoingCallback, PlivoEmulator, TwilioEmulator
from offhook_lab.carriers.core.callbacks import form_callback
from offhook_lab.carriers.core.sub_accounts import SubAccountEmulator

_RUN_URL = re.compile(r"(?P<path>.*/telephony/\w+/[\w-]+)/\d+(\?.*)?")


@dataclass(frozen=True)
class Wire:
    """``creations``, ``lookups``, ``closings`` (with the sub-account's ``reference``) and ``purchases`` are patterns of
    requests for faults, ``dials`` how a call is placed, ``asks`` the kind of callback that asks us about an inbound call.
    ``retell`` returns that callback as another account would send it of a call of its own."""

    build: Callable[[], SubAccountEmulator]
    creations: str
    lookups: str
    closings: str
    purchases: str
    dials: tuple[str, str]
    asks: str
    retell: Callable[[OutgoingCallback, str], OutgoingCallback]


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


WIRES = {
    "twilio": Wire(
        build=TwilioEmulator,
        creations="POST */Accounts.json",
        lookups="GET */Accounts.json",
        closings="POST */Accounts/{reference}.json",
        purchases="POST *IncomingPhoneNumbers*",
        dials=("POST", "/Calls.json"),
        asks="answer",
        retell=lambda asked, other: _form_of_another(asked, asked.url, CallSid="CAother", AccountSid=other),
    ),
    "plivo": Wire(
        build=PlivoEmulator,
        creations="POST */Subaccount/",
        lookups="GET */Subaccount/",
        closings="DELETE */Subaccount/{reference}/",
        purchases="POST */PhoneNumber/*",
        dials=("POST", "/Call/"),
        asks="answer",
        retell=lambda asked, other: _form_of_another(
            asked, asked.url.partition("?")[0] + f"?account={quote(other)}", CallUUID="other"
        ),
    ),
}
