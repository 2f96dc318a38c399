"""What breaks a rule of ``tests/architecture`` for now or for good: each with the date and the reason.

A name is ``path`` or ``path::function``. An entry that is not needed any more fails its test: take it out.
"""

# name: (date, reason)
Exceptions = dict[str, tuple[str, str]]

LONG_FILES: Exceptions = {
    "lab/src/offhook_lab/speech/recognizers.py": (
        "2026-11-22",
        "plain names wrapped lines; it is split with the next change of the room",
    ),
    "tests/campaigns/sim/twin.py": (
        "2026-11-22",
        "plain names wrapped lines; it is split with the next change of the room",
    ),
    "tests/telephony/test_endpoints.py": (
        "2026-11-22",
        "plain names wrapped lines; it is split with the next change of the room",
    ),
}

LONG_FUNCTIONS: Exceptions = {}

LONG_CLASSES: Exceptions = {}

# Modules that make statements and are not named repository, queries or statements: they are emptied one by one.
STATEMENTS_ELSEWHERE: Exceptions = {}

# Modules with routes that open transactions themselves: they are emptied one by one.
TRANSACTIONS_IN_ENDPOINTS: Exceptions = {}

# Modules that look services up in the root and are not the edge of the composition: they are emptied one by one.
LOOKUPS_ELSEWHERE: Exceptions = {}

# Modules with more than the one dependency of their domain, or outside its services.py: they are emptied one by one.
DEPENDENCIES_ELSEWHERE: Exceptions = {}

# Repository functions that read or write without an organization.
WITHOUT_ORGANIZATION: Exceptions = {
    "src/offhook/campaigns/start_queries.py::list_due_starts": (
        "2026-11-29",
        "the job starts the drafts of all organizations",
    ),
    "src/offhook/workflows/canaries/queries.py::list_running": (
        "2026-11-25",
        "the job looks at the canaries of all organizations",
    ),
    "src/offhook/models/voice_packs/repository.py::load_addresses": (
        "2026-11-25",
        "mirrors belong to the installation",
    ),
    "src/offhook/models/voice_packs/repository.py::store_addresses": (
        "2026-11-25",
        "mirrors belong to the installation",
    ),
    "src/offhook/models/voice_packs/repository.py::count_organizations_by_pack": (
        "2026-11-25",
        "counts the organizations that chose a pack, for superusers",
    ),
    "src/offhook/nodes/queries.py::list_nodes": ("2026-11-24", "processes belong to the installation"),
    "src/offhook/nodes/queries.py::find_addresses": ("2026-11-26", "processes belong to the installation"),
    "src/offhook/nodes/queries.py::is_any_older": ("2026-11-26", "processes belong to the installation"),
    "src/offhook/nodes/queries.py::find_sealed_level": ("2026-11-29", "processes belong to the installation"),
    "src/offhook/nodes/queries.py::list_accepting_servers": ("2026-11-25", "processes belong to the installation"),
    "src/offhook/runs/queries.py::lock_cluster_room": ("2026-11-25", "the room is that of all organizations"),
    "src/offhook/runs/queries.py::count_calls_by_process": ("2026-11-25", "the room is that of all organizations"),
    "src/offhook/nodes/repository.py::write_beat": ("2026-11-24", "processes belong to the installation"),
    "src/offhook/nodes/repository.py::remove_node": ("2026-11-24", "processes belong to the installation"),
    "src/offhook/nodes/repository.py::remove_silent_nodes": ("2026-11-24", "processes belong to the installation"),
    "src/offhook/nodes/repository.py::adopt_fingerprint": ("2026-11-24", "processes belong to the installation"),
    "src/offhook/nodes/repository.py::replace_fingerprint": ("2026-11-24", "processes belong to the installation"),
    "src/offhook/nodes/repository.py::replace_storage": ("2026-11-29", "one row of the installation"),
    "src/offhook/nodes/repository.py::get_identity": ("2026-11-29", "one row of the installation"),
    "src/offhook/nodes/repository.py::find_storage": ("2026-11-29", "one row of the installation"),
    "src/offhook/nodes/repository.py::find_fingerprint": ("2026-11-29", "one row of the installation"),
    "src/offhook/nodes/repository.py::adopt_storage": ("2026-11-29", "one row of the installation"),
    "src/offhook/orgs/repository.py::organizations_named": (
        "2026-11-21",
        "finds the organization, for the command line",
    ),
    "src/offhook/orgs/repository.py::user_by_email": ("2026-11-21", "people belong to several organizations"),
    "src/offhook/orgs/repository.py::insert_user": ("2026-11-21", "people belong to several organizations"),
    "src/offhook/orgs/repository.py::first_membership": ("2026-11-21", "finds the organization of a sign-in"),
    "src/offhook/orgs/repository.py::first_owner": ("2026-11-21", "finds the organization of a first start"),
    "src/offhook/orgs/repository.py::spend_link": ("2026-11-21", "a one-time link names its organization"),
    "src/offhook/orgs/repository.py::revoke_session": ("2026-11-21", "a session is known by its token alone"),
    "src/offhook/orgs/repository.py::lock_first_start": ("2026-11-21", "a lock of the whole installation"),
    "src/offhook/orgs/repository.py::delete_ended": ("2026-11-21", "cleans up for the whole installation"),
    "src/offhook/orgs/repository.py::find_link": ("2026-11-23", "a one-time link names its organization"),
    "src/offhook/orgs/repository.py::revoke_links": ("2026-11-23", "a person's links in all organizations"),
    "src/offhook/orgs/repository.py::delete_signup_requests": ("2026-11-23", "cleans up for the whole installation"),
    "src/offhook/orgs/second_factor/repository.py::find_factor": (
        "2026-11-24",
        "a person's, who may belong to several",
    ),
    "src/offhook/orgs/second_factor/repository.py::has_factor": ("2026-11-24", "a person's, who may belong to several"),
    "src/offhook/orgs/second_factor/repository.py::store_unconfirmed": (
        "2026-11-24",
        "a person's, who may belong to several",
    ),
    "src/offhook/orgs/second_factor/repository.py::confirm": ("2026-11-24", "a person's, who may belong to several"),
    "src/offhook/orgs/second_factor/repository.py::spend_step": ("2026-11-24", "a person's, who may belong to several"),
    "src/offhook/orgs/second_factor/repository.py::spend_recovery_code": (
        "2026-11-24",
        "a person's, who may belong to several",
    ),
    "src/offhook/orgs/second_factor/repository.py::replace_recovery_codes": (
        "2026-11-24",
        "a person's, who may belong to several",
    ),
    "src/offhook/orgs/second_factor/repository.py::count_recovery_codes": (
        "2026-11-24",
        "a person's, who may belong to several",
    ),
    "src/offhook/orgs/second_factor/repository.py::remove_factor": (
        "2026-11-24",
        "a person's, who may belong to several",
    ),
    "src/offhook/orgs/second_factor/repository.py::delete_challenges": (
        "2026-11-24",
        "a person's, who may belong to several",
    ),
    "src/offhook/orgs/identity_provider/repository.py::provider_by_name": (
        "2026-11-25",
        "finds the organization of a sign-in",
    ),
    "src/offhook/orgs/identity_provider/repository.py::spend_attempt": (
        "2026-11-25",
        "a sign-in names its organization",
    ),
    "src/offhook/orgs/identity_provider/repository.py::delete_old_attempts": (
        "2026-11-25",
        "cleans up for the whole installation",
    ),
    "src/offhook/orgs/sign_in/repository.py::spend_attempt": ("2026-11-24", "a challenge names its organization"),
    "src/offhook/orgs/sign_in/repository.py::delete_challenge": ("2026-11-24", "a challenge names its organization"),
    "src/offhook/orgs/sign_in/repository.py::extend_session": ("2026-11-23", "a session is known by its token alone"),
    "src/offhook/orgs/sign_in/repository.py::insert_signup_request": ("2026-11-23", "a stranger has no organization"),
    "src/offhook/orgs/sign_in/repository.py::list_signup_requests": ("2026-11-23", "a stranger has no organization"),
    "src/offhook/orgs/sign_in/repository.py::take_signup_request": ("2026-11-23", "a stranger has no organization"),
    "src/offhook/orgs/sign_in/repository.py::delete_signup_request": ("2026-11-23", "a stranger has no organization"),
    "src/offhook/orgs/repository.py::delete_expired_keys": ("2026-11-22", "cleans up for the whole installation"),
    "src/offhook/orgs/audit_trail/repository.py::has_written": ("2026-11-22", "asks about the transaction alone"),
    "src/offhook/orgs/audit_trail/chain_queries.py::list_chains": ("2026-11-24", "the command line checks them all"),
    "src/offhook/orgs/audit_trail/chain_queries.py::list_unsealed_chains": (
        "2026-11-24",
        "a job seals the entries of all organizations",
    ),
    "src/offhook/orgs/people/account_deletion_statements.py::list_memberships": (
        "2026-11-25",
        "a person leaves all organizations",
    ),
    "src/offhook/orgs/people/account_deletion_statements.py::list_owned_alone": (
        "2026-11-25",
        "a person leaves all organizations",
    ),
    "src/offhook/orgs/people/account_deletion_statements.py::count_active_keys": (
        "2026-11-25",
        "a person's keys in all organizations",
    ),
    "src/offhook/orgs/people/account_deletion_statements.py::end_keys": (
        "2026-11-25",
        "a person's keys in all organizations",
    ),
    "src/offhook/orgs/people/account_deletion_statements.py::delete_account": (
        "2026-11-25",
        "a person leaves all organizations",
    ),
    "src/offhook/orgs/people/repository.py::is_account_in_use": ("2026-11-23", "asks about all organizations"),
    "src/offhook/orgs/people/repository.py::lock_user": ("2026-11-23", "a person, who may belong to several"),
    "src/offhook/orgs/people/repository.py::has_session": ("2026-11-29", "a person, who may belong to several"),
    "src/offhook/orgs/people/repository.py::find_invitation_by_token": (
        "2026-11-22",
        "a link's secret is all its holder knows",
    ),
    "src/offhook/orgs/people/repository.py::accept_invitation": (
        "2026-11-22",
        "a link's secret is all its holder knows",
    ),
    "src/offhook/orgs/people/repository.py::organizations_of": ("2026-11-22", "people belong to several organizations"),
    "src/offhook/orgs/people/repository.py::list_identity_providers": (
        "2026-11-28",
        "people belong to several organizations",
    ),
    "src/offhook/orgs/people/repository.py::find_user": ("2026-11-22", "people belong to several organizations"),
    "src/offhook/orgs/people/repository.py::find_superuser": ("2026-11-23", "superusers of the whole installation"),
    "src/offhook/orgs/people/repository.py::list_superusers": ("2026-11-23", "superusers of the whole installation"),
    "src/offhook/orgs/people/repository.py::revoke_borrowed_sessions": ("2026-11-23", "in all organizations"),
    "src/offhook/orgs/people/repository.py::set_password": ("2026-11-22", "people belong to several organizations"),
    "src/offhook/orgs/people/repository.py::list_sessions": ("2026-11-22", "a person's sessions in all organizations"),
    "src/offhook/orgs/people/repository.py::revoke_session": ("2026-11-22", "a person's sessions in all organizations"),
    "src/offhook/orgs/people/repository.py::revoke_other_sessions": (
        "2026-11-22",
        "a person's sessions in all organizations",
    ),
    "src/offhook/orgs/sign_in/repository.py::find_key": ("2026-11-22", "finds the organization of a credential"),
    "src/offhook/orgs/sign_in/repository.py::find_session": ("2026-11-22", "finds the organization of a credential"),
    "src/offhook/orgs/sign_in/repository.py::mark_key_used": ("2026-11-22", "takes a key that was found by its secret"),
    "src/offhook/workflows/repository.py::active_trigger": ("2026-11-21", "a public address is all its caller knows"),
    "src/offhook/workflows/repository.py::organization_of": ("2026-11-21", "a carrier's callback names it alone"),
    "src/offhook/telephony/providers/sandbox/repository.py::end_sandbox_calls": (
        "2026-11-21",
        "the network's own book, by its own call id",
    ),
    "src/offhook/runs/repository.py::find_any_run": ("2026-11-24", "the command line looks after them all"),
    "src/offhook/runs/repository.py::by_ids": ("2026-11-21", "each run is asked for with its organization"),
    "src/offhook/runs/repository.py::set_call_ids": ("2026-11-21", "each call names its organization"),
    "src/offhook/campaigns/repository.py::find_any_campaign": ("2026-11-21", "the command line looks after them all"),
    "src/offhook/campaigns/repository.py::analyze_contacts": ("2026-11-21", "statistics are of the whole table"),
    "src/offhook/runs/repository.py::run_of_bearer": (
        "2026-11-22",
        "a media token or a signed link is all its caller knows",
    ),
    "src/offhook/telephony/accounts/repository.py::accounts_at_carrier": ("2026-11-22", "a webhook names its account"),
    "src/offhook/telephony/accounts/repository.py::accounts_with_call": ("2026-11-27", "a webhook names its account"),
    "src/offhook/runs/records/carrier_call_queries.py::organizations_with_call": (
        "2026-11-27",
        "organizations may share a carrier account",
    ),
    "src/offhook/telephony/accounts/repository.py::number_countries": (
        "2026-11-22",
        "takes accounts that a webhook named",
    ),
    "src/offhook/telephony/accounts/repository.py::find_called_number": (
        "2026-11-22",
        "takes accounts that a webhook named",
    ),
    "src/offhook/telephony/transfers/repository.py::find_transfer": ("2026-11-22", "transfer ids are unguessable"),
    "src/offhook/telephony/transfers/repository.py::change_state": ("2026-11-22", "transfer ids are unguessable"),
    "src/offhook/telephony/transfers/repository.py::set_destination": ("2026-11-22", "transfer ids are unguessable"),
    "src/offhook/telephony/transfers/repository.py::find_destination_legs": (
        "2026-11-22",
        "takes call ids of one carrier",
    ),
    "src/offhook/webhooks/repository.py::find_delivery_of_job": ("2026-11-22", "a job knows only the delivery"),
    "src/offhook/webhooks/repository.py::find_overdue": (
        "2026-11-22",
        "a job looks for lost deliveries of all organizations",
    ),
    "src/offhook/webhooks/repository.py::delete_events_before": (
        "2026-11-22",
        "a job deletes old events of all organizations",
    ),
    "src/offhook/telephony/webhooks/repository.py::record_nonce": ("2026-11-22", "takes a hash over the account's id"),
    "src/offhook/telephony/webhooks/repository.py::find_body_hash": (
        "2026-11-22",
        "takes a hash over the account's id",
    ),
    "src/offhook/telephony/webhooks/repository.py::delete_nonces": (
        "2026-11-22",
        "a job forgets those of all accounts",
    ),
    "src/offhook/telephony/signal_statements.py::send_signal": ("2026-11-22", "wakes processes and reads nothing"),
    "src/offhook/telephony/providers/sandbox/number_queries.py::find_sold": ("2026-11-22", "a number is sold once"),
    "src/offhook/telephony/accounts/purchase_repository.py::list_unfinished": (
        "2026-11-22",
        "a job completes purchases of all organizations",
    ),
    "src/offhook/telephony/accounts/purchase_repository.py::is_assigned": (
        "2026-11-22",
        "looks for the same number anywhere",
    ),
    "src/offhook/telephony/accounts/purchase_repository.py::lock_number": (
        "2026-11-22",
        "a number belongs to one organization at most",
    ),
    "src/offhook/runs/finishing/repository.py::lock_delivery": ("2026-11-22", "a job knows only the delivery"),
    "src/offhook/runs/finishing/repository.py::lock_review": ("2026-11-22", "a job knows only the review"),
    "src/offhook/runs/lists/queries.py::find_runs": (
        "2026-11-22",
        "its conditions name the organization; superusers list all",
    ),
    "src/offhook/runs/lists/run_count_queries.py::count_runs_of_workflows": (
        "2026-11-22",
        "superusers see all organizations",
    ),
    "src/offhook/runs/lists/run_count_queries.py::count_runs_by_organization": (
        "2026-11-22",
        "superusers see all organizations",
    ),
    "src/offhook/runs/lists/run_count_queries.py::count_all_runs": ("2026-11-22", "superusers see all organizations"),
    "src/offhook/runs/lists/run_count_queries.py::fold_count_changes": (
        "2026-11-22",
        "a job folds the counts of all organizations",
    ),
    "src/offhook/runs/live/lease_queries.py::take_run": ("2026-11-22", "a media token was spent for the run"),
    "src/offhook/runs/live/lease_queries.py::renew_run_leases": (
        "2026-11-22",
        "a worker renews all of its own runs at once",
    ),
    "src/offhook/runs/live/lease_queries.py::lease_ringing_runs": (
        "2026-11-22",
        "a worker leases all of its own runs at once",
    ),
    "src/offhook/runs/live/lease_queries.py::find_expired": ("2026-11-22", "the sweeper looks at all organizations"),
    "src/offhook/runs/live/lease_queries.py::lock_expired": ("2026-11-22", "the sweeper looks at all organizations"),
    "src/offhook/runs/live/lease_queries.py::find_never_connected": (
        "2026-11-22",
        "the sweeper looks at all organizations",
    ),
    "src/offhook/runs/resuming/resume_queries.py::write_states": (
        "2026-11-25",
        "a worker writes the states of all of its own runs at once",
    ),
    "src/offhook/runs/resuming/resume_queries.py::find_workers": (
        "2026-11-26",
        "a sweep asks about the calls of all organizations",
    ),
    "src/offhook/runs/resuming/resume_queries.py::find_runs_of_others": (
        "2026-11-25",
        "a worker asks about all of its own runs at once",
    ),
    "src/offhook/runs/live/repository.py::insert_media_tokens": ("2026-11-22", "each token names a run of the caller"),
    "src/offhook/runs/live/repository.py::spend_media_token": ("2026-11-22", "a media token is all its caller knows"),
    "src/offhook/runs/live/repository.py::find_run_of_ringing_call": (
        "2026-11-22",
        "this process placed or took the call itself",
    ),
    "src/offhook/runs/records/carrier_call_queries.py::run_for_callback": (
        "2026-11-22",
        "a callback names the run, and is verified next",
    ),
    "src/offhook/runs/records/carrier_call_queries.py::call_ids_of_other_runs": (
        "2026-11-22",
        "organizations may share a carrier account",
    ),
    "src/offhook/runs/records/carrier_call_queries.py::lock_call": (
        "2026-11-22",
        "a lock by the carrier's id of the call",
    ),
    "src/offhook/runs/records/carrier_call_queries.py::calls_without_media": (
        "2026-11-22",
        "a sweeper looks at all organizations",
    ),
    "src/offhook/runs/records/event_queries.py::append_events": (
        "2026-11-22",
        "events name their runs, whose writer has them",
    ),
    "src/offhook/runs/records/event_queries.py::notify_listeners": (
        "2026-11-22",
        "only run ids are sent, and only to our own processes",
    ),
}

# Modules outside of ``telephony/providers`` that name a carrier.
CARRIER_NAMES: Exceptions = {}

# Modules outside of ``telephony/providers`` that import a carrier.
CARRIER_IMPORTS: Exceptions = {
    "src/offhook/bootstrap.py": ("2026-11-22", "every table must be known before a foreign key is resolved"),
    "src/offhook/commands/call/client.py": ("2026-11-22", "plays a recording through one carrier's media format"),
    "src/offhook/telephony/carriers.py": ("2026-11-22", "the list of the carriers"),
}

# Modules that use another domain's repository or tables.
FOREIGN_INSIDES: Exceptions = {
    "src/offhook/bootstrap.py": ("2026-11-21", "every table must be known before a foreign key is resolved"),
}
