"""What can be wrong with a request that places a call."""

from offhook.errors import Conflict, DomainError, NotFound, Unauthorized, UnprocessableRequest


class ConfigurationNotFound(NotFound):
    """Telephony configuration not found."""

    code = "telephony_configuration_not_found"


class PhoneNumberNotFound(NotFound):
    """Your organization has no phone number with this id to call from."""

    code = "from_phone_number_not_found"


class CarrierUnknown(NotFound):
    """This carrier does not exist."""

    code = "carrier_not_found"


class CarrierCannotDial(UnprocessableRequest):
    """This carrier cannot place calls."""

    code = "carrier_cannot_dial"


class NumberMissing(UnprocessableRequest):
    """phone_number is missing: give it in E.164, as in +12015550101, or save a test phone number in the preferences."""

    code = "phone_number_missing"


class NumberOnDoNotCallList(Conflict):
    """This number is on your do-not-call list: it is not dialled."""

    code = "do_not_call"


class RunNotDialable(Conflict):
    """This run has been started already, or was not made for a telephone call."""

    code = "run_not_dialable"


class NoTelephoneCall(Conflict):
    """This run is a browser call or a text chat: there is no telephone call to end."""

    code = "no_telephone_call"


class CarrierRefused(DomainError):
    """The carrier did not place the call."""

    code = "carrier_failed"
    status = 502


class NoNumberToCallFrom(UnprocessableRequest):
    """This carrier account has no active number to call from: add one."""

    code = "no_number_to_call_from"


class AccountUnreadable(Conflict):
    """The secrets of this account cannot be opened with this installation's key: enter them again."""

    code = "credential_unreadable"


class WebhookRefused(Unauthorized):
    """The request is not signed, or not by this account's carrier, or too old, or was seen before with another body."""

    code = "webhook_refused"


class WebhookNotReadable(UnprocessableRequest):
    """This is not what the carrier sends here."""

    code = "webhook_unreadable"


class TransferNotFound(NotFound):
    """Transfer not found."""

    code = "transfer_not_found"


class ConfigurationInvalid(UnprocessableRequest):
    """The account's fields are not what this carrier needs."""

    code = "configuration_invalid"


class CredentialsRefused(UnprocessableRequest):
    """The carrier does not take this account."""

    code = "credentials_refused"


class CarrierCheckFailed(DomainError):
    """The carrier could not be asked whether it takes this account: try again, or save with ?verify=false."""

    code = "carrier_check_failed"
    status = 502


class ConfigurationNameTaken(Conflict):
    """An account with this name exists."""

    code = "telephony_configuration_name_taken"


class ManagedConfiguration(Conflict):
    """This account is the platform's own: its numbers come and go with quick-connect."""

    code = "managed_configuration"


class ProviderChange(DomainError):
    """An account stays with its carrier: make a new one."""

    code = "provider_change"
    status = 400


class NumberNotOwned(DomainError):
    """The carrier says that this account does not have this number."""

    code = "number_not_owned"
    status = 400


class NumberNotFound(NotFound):
    """Phone number not found."""

    code = "phone_number_not_found"


class NumberTaken(Conflict):
    """This account has this number already."""

    code = "phone_number_taken"


class NumberRoutedElsewhere(Conflict):
    """Calls to this number of this carrier account are routed elsewhere already."""

    code = "phone_number_routing_conflict"


class NumberIsManaged(Conflict):
    """This number was bought by the platform: release it with managed-numbers."""

    code = "phone_number_managed"


class NumberNotManaged(Conflict):
    """This number was not bought by the platform: remove it from its carrier account."""

    code = "phone_number_not_managed"


class NoNumberForSale(Conflict):
    """The carrier has no number to sell there: try another area or country."""

    code = "no_number_available"


class NumberNotBought(DomainError):
    """The number was not bought, and nothing was charged that is not given back."""

    code = "number_not_bought"
    status = 502


class CarrierUnavailable(DomainError):
    """The carrier did not answer, or refused."""

    code = "carrier_failed"
    status = 502
