"""What can be wrong with a request that places a call."""

from offhook.errors import Conflict, DomainError, NotFound, Unauthorized, Unprocessable


class ConfigurationNotFound(NotFound):
    """Telephony configuration not found."""

    code = "telephony_configuration_not_found"


class PhoneNumberNotFound(NotFound):
    """Your organisation has no phone number with this id to call from."""

    code = "from_phone_number_not_found"


class CarrierUnknown(NotFound):
    """This carrier does not exist."""

    code = "carrier_not_found"


class CarrierCannotDial(Unprocessable):
    """This carrier cannot place calls."""

    code = "carrier_cannot_dial"


class NumberMissing(Unprocessable):
    """phone_number is missing: give the number to call in E.164, as in +12015550101."""

    code = "phone_number_missing"


class NumberOnDoNotCallList(Conflict):
    """This number is on your do-not-call list: it is not dialled."""

    code = "do_not_call"


class RunNotDialable(Conflict):
    """This run has been started already, or was not made for a telephone call."""

    code = "run_not_dialable"


class CarrierRefused(DomainError):
    """The carrier did not place the call."""

    code = "carrier_failed"
    status = 502


class NoNumberToCallFrom(Unprocessable):
    """This carrier account has no active number to call from: add one."""

    code = "no_number_to_call_from"


class AccountUnreadable(Conflict):
    """The secrets of this account cannot be opened with this installation's key: enter them again."""

    code = "credential_unreadable"


class WebhookRefused(Unauthorized):
    """The request is not signed, or not by this account's carrier, or too old, or was seen before with another body."""

    code = "webhook_refused"


class WebhookNotReadable(Unprocessable):
    """This is not what the carrier sends here."""

    code = "webhook_unreadable"


class TransferNotFound(NotFound):
    """Transfer not found."""

    code = "transfer_not_found"
