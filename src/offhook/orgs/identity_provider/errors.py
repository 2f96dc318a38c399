"""Errors of identity providers and of signing in with them."""

from offhook.errors import Conflict, Forbidden, NotFound, Unauthorized, UnprocessableRequest


class IdentityProviderNotFound(NotFound):
    """No organization has this sign-in name."""

    code = "identity_provider_not_found"


class SignInNameTaken(Conflict):
    """This sign-in name is taken. Choose another one."""

    code = "sign_in_name_taken"


class IssuerInvalid(UnprocessableRequest):
    """The issuer must be an https:// address without query and fragment."""

    code = "issuer_invalid"


class IdentityProviderUnusable(UnprocessableRequest):
    """The identity provider cannot be used."""

    code = "identity_provider_unusable"


class ClientSecretMissing(UnprocessableRequest):
    """Enter the client secret: the issuer or the client ID is new, and the stored secret belongs to the old one."""

    code = "client_secret_missing"


class ProviderSignInRefused(Unauthorized):
    """This sign-in has expired or was started in another browser. Start again."""

    code = "provider_sign_in_refused"


class IdentityRefused(Unauthorized):
    """The identity provider's answer could not be verified. Start again, or ask an owner of your organization."""

    code = "identity_refused"


class AddressNotVerified(Forbidden):
    """The identity provider does not confirm that the email address is yours."""

    code = "email_not_verified"


class DomainNotAllowed(Forbidden):
    """Your organization does not accept email addresses in this domain."""

    code = "email_domain_not_allowed"


class NotInvited(Forbidden):
    """You are not a member of this organization. Ask one of its admins for an invitation."""

    code = "not_invited"


class AccountElsewhere(Forbidden):
    """This address already has an account. Join the organization with it by invitation first, then sign in this way."""

    code = "account_elsewhere"


class AccountProtected(Forbidden):
    """Superusers sign in with their password or a link only."""

    code = "account_protected"


class AccountLinkedDifferently(Forbidden):
    """This account is linked to another identity of the provider. Ask an owner of your organization to unlink it."""

    code = "account_linked_differently"


class IdentityNotFound(NotFound):
    """This member is not linked to the identity provider."""

    code = "identity_not_found"
