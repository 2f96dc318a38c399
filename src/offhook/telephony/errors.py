"""Errors of telephony: calls, carrier accounts, numbers and webhooks."""

from offhook.errors import Conflict, DomainError, NotFound, Unauthorized, UnprocessableRequest


class ConfigurationNotFound(NotFound):
    """Telephony configuration not found."""

    code = "telephony_configuration_not_found"


class PhoneNumberNotFound(NotFound):
    """Caller ID not found: your organization has no phone number with this id."""

    code = "from_phone_number_not_found"


class CarrierUnknown(NotFound):
    """This carrier does not exist."""

    code = "carrier_not_found"


class CarrierCannotDial(UnprocessableRequest):
    """This carrier cannot place calls."""

    code = "carrier_cannot_dial"


class NumberMissing(UnprocessableRequest):
    """phone_number is required: use E.164, for example +12015550101, or save a test phone number in the preferences."""

    code = "phone_number_missing"


class NumberOnDoNotCallList(Conflict):
    """This number is on your do-not-call list."""

    code = "do_not_call"


class DestinationBlocked(Conflict):
    """Your organization's call policy does not allow calls to this number."""

    code = "destination_blocked"


class RunNotDialable(Conflict):
    """This run has already started, or is not a telephone call."""

    code = "run_not_dialable"


class NoTelephoneCall(Conflict):
    """This run is not a telephone call."""

    code = "no_telephone_call"


class CarrierRefused(DomainError):
    """The carrier did not place the call."""

    code = "carrier_failed"
    status = 502


class NoNumberToCallFrom(UnprocessableRequest):
    """This carrier account has no active phone number to call from. Add one first."""

    code = "no_number_to_call_from"


class AccountUnreadable(Conflict):
    """The secrets of this account cannot be decrypted with this installation's key. Enter them again."""

    code = "credential_unreadable"


class WebhookRefused(Unauthorized):
    """The webhook's signature is missing, invalid, expired or already used."""

    code = "webhook_refused"


class WebhookNotReadable(UnprocessableRequest):
    """Unexpected payload for this carrier webhook."""

    code = "webhook_unreadable"


class TransferNotFound(NotFound):
    """Transfer not found."""

    code = "transfer_not_found"


class ConfigurationInvalid(UnprocessableRequest):
    """The account's fields are invalid for this carrier."""

    code = "configuration_invalid"


class CredentialsRefused(UnprocessableRequest):
    """The carrier rejected these credentials."""

    code = "credentials_refused"


class CarrierCheckFailed(DomainError):
    """The credentials could not be checked with the carrier. Try again, or save with ?verify=false."""

    code = "carrier_check_failed"
    status = 502


class ConfigurationNameTaken(Conflict):
    """An account with this name already exists."""

    code = "telephony_configuration_name_taken"


class ManagedConfiguration(Conflict):
    """This account is managed by the platform. Use quick-connect to add or release its numbers."""

    code = "managed_configuration"


class AccountChanged(Conflict):
    """This account was changed while the carrier was checking it. Try again."""

    code = "telephony_configuration_changed"


class ProviderChange(DomainError):
    """An account's carrier cannot be changed. Create a new account instead."""

    code = "provider_change"
    status = 400


class NumberNotOwned(DomainError):
    """The carrier reports that this account does not own this number."""

    code = "number_not_owned"
    status = 400


class NumberNotFound(NotFound):
    """Phone number not found."""

    code = "phone_number_not_found"


class NumberTaken(Conflict):
    """This number has already been added to this account."""

    code = "phone_number_taken"


class NumberRoutedElsewhere(Conflict):
    """Calls to this number are already routed elsewhere."""

    code = "phone_number_routing_conflict"


class NumberIsManaged(Conflict):
    """This number is managed by the platform. Release it with managed-numbers."""

    code = "phone_number_managed"


class NumberNotManaged(Conflict):
    """This number is not managed by the platform. Remove it from its carrier account."""

    code = "phone_number_not_managed"


class TooManyNumbers(Conflict):
    """Your organization has reached its limit of platform numbers. Release one first."""

    code = "number_limit"


class NoNumberForSale(Conflict):
    """No numbers are available there. Try another area code or country."""

    code = "no_number_available"


class NumberNotBought(DomainError):
    """The number was not purchased and any charge was refunded."""

    code = "number_not_bought"
    status = 502


class CarrierUnavailable(DomainError):
    """The carrier did not respond or refused the request."""

    code = "carrier_failed"
    status = 502


class SubAccountsUnsupported(Conflict):
    """The platform's carrier has no sub-accounts."""

    code = "sub_accounts_unsupported"


class SubAccountsRefused(Conflict):
    """The carrier does not allow sub-accounts of the platform's account."""

    code = "sub_accounts_refused"


class SubAccountNotCreated(DomainError):
    """The carrier did not create the organization's sub-account."""

    code = "sub_account_not_created"
    status = 502


class SubAccountPending(Conflict):
    """The organization's sub-account is being created at the carrier. Try again in a minute."""

    code = "sub_account_pending"
