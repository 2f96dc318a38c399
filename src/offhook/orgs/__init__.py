"""Organizations, their people, sign-in and API keys."""

from functools import partial

from offhook.kit.crypto import Keyring
from offhook.kit.egress import EgressClient
from offhook.orgs import endpoints, tasks
from offhook.orgs.api_keys import user_key_endpoints
from offhook.orgs.audit_trail import endpoints as audit_endpoints
from offhook.orgs.audit_trail import sealing
from offhook.orgs.audit_trail.export import AuditExports
from offhook.orgs.audit_trail.reads import RecentReads
from offhook.orgs.audit_trail.recorder import skip_audit_entry
from offhook.orgs.audit_trail.recorder import write_change_entry as write_audit_entry
from offhook.orgs.call_policy import endpoints as call_policy_endpoints
from offhook.orgs.caller import ADMINS, Caller
from offhook.orgs.credential_watch import OpenStreams, StreamLimits, end_with_credential
from offhook.orgs.data_keys.keys import DataKeys
from offhook.orgs.data_keys.word_keys import WordKeys, provide_word_keys
from offhook.orgs.dependencies import (
    ClientAddress,
    CurrentOrg,
    Now,
    OptionalOrg,
    OrganizationQuota,
    ReadTransaction,
    RequireAdmin,
    RequireMember,
    RequireOwnerPerson,
    RequirePerson,
    RequireSuperuser,
    record_link_read,
)
from offhook.orgs.do_not_call import endpoints as do_not_call_endpoints
from offhook.orgs.held_access import as_begun, hold_access, may_still_call, refuse_without_call_scope
from offhook.orgs.idempotency import IdempotencyHeader, answer_idempotent
from offhook.orgs.identity_provider import endpoints as identity_provider_endpoints
from offhook.orgs.identity_provider.provider_http import ProviderHttp
from offhook.orgs.identity_provider.provider_sign_in import ProviderSignIn
from offhook.orgs.identity_provider.providers import IdentityProviders
from offhook.orgs.people import account_endpoints, member_endpoints
from offhook.orgs.preferences import endpoints as preference_endpoints
from offhook.orgs.privacy_settings import endpoints as privacy_settings_endpoints
from offhook.orgs.second_factor import endpoints as second_factor_endpoints
from offhook.orgs.second_factor.factors import SecondFactors
from offhook.orgs.services import OrganizationServices
from offhook.orgs.sign_in import signup_endpoints
from offhook.orgs.sign_in.authentication import Authenticator
from offhook.orgs.sign_in.second_step import SignInSteps
from offhook.orgs.sign_in.sign_in_service import SignIn
from offhook.orgs.sign_in.signups import SignupDesk
from offhook.orgs.storage_quota import StorageQuota, StorageQuotaExceeded
from offhook.root import Root
from offhook.settings import Settings

__all__ = [
    "ADMINS",
    "Caller",
    "ClientAddress",
    "CurrentOrg",
    "IdempotencyHeader",
    "Now",
    "OptionalOrg",
    "OrganizationQuota",
    "ReadTransaction",
    "RequireAdmin",
    "RequireMember",
    "RequireOwnerPerson",
    "RequirePerson",
    "RequireSuperuser",
    "StorageQuota",
    "StorageQuotaExceeded",
    "StreamLimits",
    "answer_idempotent",
    "as_begun",
    "end_with_credential",
    "hold_access",
    "keyring_of",
    "may_still_call",
    "record_link_read",
    "refuse_without_call_scope",
    "register",
    "skip_audit_entry",
    "write_audit_entry",
]


def keyring_of(settings: Settings) -> Keyring:
    """Returns the keys of the settings, or of the data folder."""
    secret = settings.secret_key
    return Keyring(secret.get_secret_value() if secret else None, settings.data_dir / "secret.key")


def register(root: Root) -> None:
    """Registers sign-in, keys, members and the audit log with the process."""
    keyring = keyring_of(root.settings)
    root.provide(Keyring, keyring)
    provide_word_keys(root.db, WordKeys(DataKeys(keyring), encrypts=root.settings.encrypt_recordings))
    authenticator = Authenticator(root.db, root.clock)
    factors = SecondFactors(root.clock, keyring)
    steps = SignInSteps(root.db, root.clock, factors)
    sign_in = SignIn(root.db, root.clock, steps)
    signups = SignupDesk(root.db, root.clock, root.settings)
    quota = StorageQuota(root.storage, root.settings)
    reads = RecentReads(root.clock)
    provider_http = ProviderHttp(root.get(EgressClient))
    providers = IdentityProviders(root.db, root.clock, keyring, provider_http)
    services = OrganizationServices(
        authenticator=authenticator,
        sign_in=sign_in,
        steps=steps,
        second_factors=factors,
        signups=signups,
        quota=quota,
        reads=reads,
        audit_exports=AuditExports(root.db),
        identity_providers=providers,
        provider_sign_in=ProviderSignIn(root.db, root.clock, keyring, provider_http, providers, steps),
    )
    root.provide(OrganizationServices, services)
    root.provide(StorageQuota, quota)
    # A tenth of the connections that a process takes at most.
    root.provide(StreamLimits, StreamLimits(per_organization=max(1, root.settings.max_connections // 10)))
    root.provide(OpenStreams, OpenStreams())
    root.on_stop += [authenticator.close, sign_in.close]
    root.api.include_router(endpoints.auth_router)
    root.api.include_router(endpoints.organizations_router)
    for module in (
        signup_endpoints,
        account_endpoints,
        second_factor_endpoints,
        identity_provider_endpoints,
        call_policy_endpoints,
        privacy_settings_endpoints,
        preference_endpoints,
        user_key_endpoints,
        member_endpoints,
        audit_endpoints,
        do_not_call_endpoints,
    ):
        root.api.include_router(module.router)
    sweep = partial(tasks.delete_expired_credentials, root.db, root.clock)
    root.jobs.add("credentials.sweep", sweep, every_s=tasks.SWEEP_EVERY_S)
    root.jobs.add("audit.seal", partial(sealing.seal_audit_log, root.db), every_s=sealing.SEAL_EVERY_S)
