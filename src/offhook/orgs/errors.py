"""Errors of sign-in, keys, members and repeated requests."""

from offhook.errors import Conflict, Forbidden, NotFound, TooManyRequests, Unauthorized, UnprocessableRequest


class InvalidCredentials(Unauthorized):
    """Invalid email or password."""

    code = "invalid_credentials"


class InvalidApiKey(Unauthorized):
    """Invalid, expired or archived API key."""

    code = "invalid_api_key"


class InvalidToken(Unauthorized):
    """Invalid or expired token. Sign in again."""

    code = "invalid_token"


class SignInLinkRefused(Unauthorized):
    """This sign-in link was already used or has expired."""

    code = "sign_in_link_refused"


class SecondStepRefused(Unauthorized):
    """This sign-in has expired, or too many wrong codes were entered. Sign in again."""

    code = "second_step_refused"


class WrongCode(Forbidden):
    """This code is wrong, was already used, or is too old. Enter the newest code of your authenticator app."""

    code = "wrong_code"


class SecondFactorRequired(Forbidden):
    """Your organization requires two-step sign-in. Set it up under Settings, Account."""

    code = "second_factor_required"


class ProviderSignInRequired(Forbidden):
    """Your organization requires signing in with its identity provider."""

    code = "provider_sign_in_required"


class ProviderSessionRefused(Forbidden):
    """You signed in with your organization's identity provider, which gives access to this organization only. Sign in
    with your password or a link first."""

    code = "provider_session_refused"


class SecondFactorEnabled(Conflict):
    """Two-step sign-in is already on. Turn it off to set it up with another device."""

    code = "second_factor_enabled"


class SecondFactorDueInvalid(UnprocessableRequest):
    """Choose a time within the next 90 days."""

    code = "second_factor_due_invalid"


class SecondFactorMissing(Conflict):
    """Two-step sign-in is not on, or its setup was not started."""

    code = "second_factor_missing"


class SecondFactorUnreadable(Conflict):
    """This installation's secret key has changed. Use a recovery code, or ask an owner to reset your two-step
    sign-in."""

    code = "second_factor_unreadable"


class SignInFirst(Conflict):
    """This account has two-step sign-in. Sign in first, then open the invitation again."""

    code = "sign_in_first"


class AccountJustOpened(Conflict):
    """This address got its account a moment ago. Open the invitation again, and accept it with the password of that account."""

    code = "account_just_opened"


class SuperuserOnly(Forbidden):
    """Access denied: superuser privileges are required."""

    code = "superuser_required"


class PersonOnly(Forbidden):
    """This requires a user session; API keys and impersonated sessions are not allowed."""

    code = "person_required"


class KeyScopeMissing(Forbidden):
    """This API key lacks the scope for this request."""

    code = "api_key_scope_missing"


class KeyNetworkRefused(Forbidden):
    """This API key cannot be used from your network."""

    code = "api_key_network_refused"


class BorrowedSessionReadOnly(Forbidden):
    """An impersonated session can only read, unless the organization allows changes under Settings, Organization."""

    code = "borrowed_session_read_only"


class BorrowedSessionRefused(Forbidden):
    """An impersonated session cannot change keys, members, webhooks, credentials or carrier accounts."""

    code = "borrowed_session_refused"


class SignupDisabled(Forbidden):
    """New accounts are by invitation only. Ask an administrator of your organization for a link."""

    code = "signup_disabled"


class SuperuserNotFound(NotFound):
    """No superuser has this email address."""

    code = "superuser_not_found"


class SignupRequestNotFound(NotFound):
    """Account request not found."""

    code = "signup_request_not_found"


class PasswordTooCommon(UnprocessableRequest):
    """This password is too easy to guess. Choose one that is not common, not repeated characters, and not your address."""

    code = "password_too_common"


class PasswordLinkRefused(Conflict):
    """This person has access beyond your organization. Ask the operator of this installation for a link."""

    code = "password_link_refused"


class AccountInUse(Conflict):
    """This person has a password. Run `offhook sign-in-link EMAIL --reset-password` on the server to replace it."""

    code = "account_in_use"


class EmailTaken(Conflict):
    """This email address is already registered."""

    code = "email_taken"


class KeyExpiryInvalid(UnprocessableRequest):
    """The expiry is in the past. Choose a later date."""

    code = "api_key_expiry_invalid"


class KeyMakerNotAdmin(Conflict):
    """The person who created this key is no longer an admin and knows its secret. Create a new key."""

    code = "api_key_maker_not_admin"


class ApiKeyNotFound(NotFound):
    """API key not found."""

    code = "api_key_not_found"


class UserNotFound(NotFound):
    """User not found."""

    code = "user_not_found"


class MemberNotFound(NotFound):
    """Member not found."""

    code = "member_not_found"


class AlreadyMember(Conflict):
    """This person is already a member."""

    code = "already_member"


class LastOwner(Conflict):
    """An organization must have at least one owner."""

    code = "last_owner"


class OwnerOnly(Forbidden):
    """Only owners can do this."""

    code = "owner_required"


class IdempotencyConflict(Conflict):
    """This Idempotency-Key was already used with a different request body."""

    code = "idempotency_conflict"


class IdempotencyInProgress(Conflict):
    """The first request with this Idempotency-Key is still in progress."""

    code = "idempotency_in_progress"


class IdempotencyOutcomeUnknown(Conflict):
    """The first request with this Idempotency-Key was interrupted and may have acted. Check for its result, then use a new key."""

    code = "idempotency_outcome_unknown"


class IdempotencyKeyInvalid(UnprocessableRequest):
    """An Idempotency-Key must have 1 to 255 visible ASCII characters."""

    code = "idempotency_key_invalid"


class DoNotCallEntryNotFound(NotFound):
    """This number is not on the do-not-call list."""

    code = "do_not_call_entry_not_found"


class InvitationNotFound(NotFound):
    """Invitation not found."""

    code = "invitation_not_found"


class InvitationRefused(Unauthorized):
    """This invitation was already used, was revoked or has expired. Ask for a new one."""

    code = "invitation_refused"


class InvitationForSomeoneElse(Forbidden):
    """This invitation is for a different email address than the one you are signed in with."""

    code = "invitation_for_someone_else"


class PasswordMissing(UnprocessableRequest):
    """Choose a password of at least 8 characters."""

    code = "password_missing"


class WrongPassword(Forbidden):
    """The current password is wrong."""

    code = "wrong_password"


class OrganizationNotAccessible(NotFound):
    """You do not belong to this organization."""

    code = "organization_not_found"


class SessionNotFound(NotFound):
    """Session not found."""

    code = "session_not_found"


class UserWithoutOrganization(Conflict):
    """This user does not belong to any organization."""

    code = "user_without_organization"


class BlockedCallerNotFound(NotFound):
    """This number is not on your list of blocked callers."""

    code = "blocked_caller_not_found"


class ConfirmationWrong(UnprocessableRequest):
    """This is not the email address of your account. Type it exactly."""

    code = "confirmation_wrong"


class SuperuserAccount(Conflict):
    """A superuser's account cannot be deleted. Revoke the superuser access first (offhook superuser revoke)."""

    code = "superuser_account"


class OnlyOwner(Conflict):
    """You are the only owner of an organization. Make another member an owner first, or delete the organization."""

    code = "only_owner"


class FreshSignInNeeded(Forbidden):
    """For your security, sign in again to do this. The sign-in must be less than 10 minutes old."""

    code = "fresh_sign_in_needed"


class OrganizationClosed(Conflict):
    """This organization is being deleted."""

    code = "organization_closed"


class MembershipsChanged(Conflict):
    """Your memberships have just changed. Check them, then try again."""

    code = "memberships_changed"


class WordsUnreadable(Conflict):
    """This is encrypted and cannot be decrypted: its key was deleted, or is sealed with another secret key."""

    code = "words_unreadable"


class TooManyStreams(TooManyRequests):
    """Your organization has too many event streams open. Close some pages that follow calls or campaigns."""

    code = "too_many_streams"
