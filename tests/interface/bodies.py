"""A valid body for every operation that takes one, by operation id, and who may call what."""

from typing import Any

from tests.interface.world import CALCULATOR, NAME, Body, World
from tests.workflows.definitions import simple

# Reached without a credential; each protects itself otherwise (password, one-time link, signature, signed link).
PUBLIC = frozenset(
    {
        "login",
        "signup",
        "sign_in_by_link",
        "pass_second_step",
        "start_provider_sign_in",
        "finish_provider_sign_in",
        "look_at_invitation",
        "accept_invitation",
        "get_health",
        "logout",
        "upload_recording",
        "upload_contact_file",
        "download_contact_file",
        # carriers', by their signatures
        "inbound_run",
        "inbound_fallback",
        "inbound_workflow",
        "transfer_result",
        "cloudonix_status_callback",
        "cloudonix_cdr",
        "plivo_hangup_callback",
        "plivo_ring_callback",
        "telnyx_events",
        "telnyx_transfer_result",
        "twilio_status_callback",
        "vobiz_hangup_callback",
        "vobiz_hangup_callback_of_workflow",
        "vobiz_ring_callback",
        "vonage_events",
        "vonage_events_of_account",
    }
)
# Opened by a signed link too, or by a key of their own kind: tested with their domain.
SUPERUSER_PREFIX = "/superuser/"
# Changes by method, but a viewer may: they change nothing of the organization's.
VIEWER_MAY = frozenset(
    {
        "validate_workflow",
        "check_scenarios",
        "change_own_name",
        "change_password",
        "delete_account",
        "end_session",
        "switch_organization",
        "search_knowledge",
        "enroll_second_factor",
        "confirm_second_factor",
        "renew_recovery_codes",
        "remove_second_factor",
        "create_run_view",
        "update_run_view",
        "delete_run_view",
    }
)
# Only for somebody who is signed in.
PERSONAL = frozenset(
    {
        "end_session",
        "reactivate_api_key",
        "reactivate_user_api_key",
        "change_member_role",
        "create_password_link",
        "reset_second_factor",
        "unlink_identity",
    }
)
# Answers as long as the conversation lasts.
STREAMS = frozenset({"stream_workflow_run_events", "stream_campaign_progress"})
PRICED = {"model": "gpt-4.1", "valid_from": "2026-01-01"}


def _definition(world: World) -> dict[str, Any]:
    return {"name": f"Another {world.mark}", "workflow_definition": simple(marked=world.mark)}


def _scenario(world: World) -> dict[str, Any]:
    return {"name": world.mark, "caller": {"turns": [f"Hello {world.mark}"]}, "expect": {"is_over": False}}


BODIES: dict[str, Body] = {
    "create_workflow": _definition,
    "update_workflow": lambda world: {"name": f"Renamed {world.mark}"},
    "update_workflow_status": lambda world: {"status": "active"},
    "publish_workflow": lambda world: {"note": "Shorter"},
    "import_workflow": lambda world: {
        "format": "offhook.agent",
        "version": 1,
        "name": NAME,
        "workflow_definition": simple(),
        "tools": [{"id": "tool-1", "name": "Sum", "category": "calculator", "definition": CALCULATOR}],
    },
    "create_draft": lambda world: {},
    "replace_scenarios": lambda world: {"scenarios": [_scenario(world)]},
    "put_scenario": _scenario,
    "play_scenarios": lambda world: {"seeds": [1]},
    "start_canary": lambda world: {"share": 10, "note": "Shorter"},
    "change_canary": lambda world: {"share": 20},
    "end_canary": lambda world: {"decision": "back", "reason": "Too short."},
    "put_publish_gate": lambda world: {"is_required": False, "min_edge_coverage": 10},
    "check_scenarios": lambda world: {"yaml": "scenarios: []"},
    "create_workflow_run": lambda world: {"mode": "textchat"},
    "start_text_chat": lambda world: {},
    "send_text_chat_message": lambda world: {"text": "Hello"},
    "test_phone_call": lambda world: {"workflow_id": world.ids["workflow_id"], "phone_number": "+12015550102"},
    "trigger_agent": lambda world: {"phone_number": "+12015550102"},
    "create_api_key": lambda world: {"name": "Another"},
    "create_user_api_key": lambda world: {"name": "Another"},
    "login": lambda world: {"email": world.org.email("owner"), "password": "not the password"},
    "signup": lambda world: {"email": f"someone-{world.mark}@example.com"},
    "sign_in_by_link": lambda world: {"token": "x" * 43},
    "pass_second_step": lambda world: {"challenge": "x" * 43, "code": "123456"},
    "enroll_second_factor": lambda world: {},
    "confirm_second_factor": lambda world: {"code": "123456"},
    "renew_recovery_codes": lambda world: {"code": "123456"},
    "remove_second_factor": lambda world: {"code": "123456"},
    "start_provider_sign_in": lambda world: {"sign_in_name": "acme"},
    "finish_provider_sign_in": lambda world: {"code": "c", "state": "x" * 43, "secret": "y" * 43},
    "put_identity_provider": lambda world: {
        "sign_in_name": f"acme-{world.mark}".lower(),
        "issuer": "https://id.invalid",
        "client_id": "offhook",
        "client_secret": "secret",
        "email_domains": ["acme.example"],
    },
    "put_second_factor_demand": lambda world: {"due_at": None},
    "look_at_invitation": lambda world: {"token": "x" * 43},
    "accept_invitation": lambda world: {"token": "x" * 43, "password": "long enough"},
    "change_own_name": lambda world: {"name": "Ann Example"},
    "change_password": lambda world: {"new_password": "long enough"},
    # Of nobody: the account that asks is needed by the other operations.
    "delete_account": lambda world: {"email": "nobody@example.com"},
    "delete_organization": lambda world: {"name": "Of nobody"},
    "switch_organization": lambda world: {"organization_id": world.org.id},
    "update_current_organization": lambda world: {"name": f"Renamed {world.mark}"},
    "invite_member": lambda world: {"email": f"another-{world.mark}@example.com"},
    "put_support_access": lambda world: {"may_write": True},
    "create_sign_in_link": lambda world: {"email": world.org.email("member")},
    "change_member_role": lambda world: {"role": "member"},
    "put_preferences": lambda world: {"timezone": "Europe/Paris"},
    "put_model_configurations": lambda world: {"llm": {"provider": "builtin", "model": "rules"}},
    "check_model_configurations": lambda world: {"llm": {"provider": "builtin", "model": "rules"}},
    "update_managed_carrier": lambda world: {"uses_sub_accounts": False},
    "put_voice_mirrors": lambda world: {"addresses": ["https://mirror.example/"]},
    "start_voice_pack_installation": lambda world: {},
    "preview_voice": lambda world: {"tts": {"provider": "builtin"}, "text": "Hello."},
    "create_presigned_upload_url": lambda world: {"file_name": "a.csv", "file_size": 10, "content_type": "text/csv"},
    "create_campaign": lambda world: {
        "name": f"Another {world.mark}",
        "workflow_id": world.ids["workflow_id"],
        "contacts_file_key": world.uploaded["contacts_file_key"],
        "max_concurrency": 1,
    },
    "update_campaign": lambda world: {"name": f"Renamed {world.mark}", "starts_at": None},
    "place_campaign_test_call": lambda world: {"phone_number": "+12015550102"},
    "create_run_view": lambda world: {"name": f"Another {world.mark}", "search": {"outcome": "busy"}},
    "update_run_view": lambda world: {"name": f"Renamed {world.mark}"},
    "redial_campaign": lambda world: {"name": "Again", "redial_statuses": ["no_answer"]},
    "create_webhook": lambda world: {"url": f"https://example.com/{world.mark}/2", "events": ["run.completed"]},
    "update_webhook": lambda world: {"description": world.mark},
    "impersonate": lambda world: {"user_id": world.org.user_ids["member"]},
    "create_recordings": lambda world: {
        "recordings": [
            {
                "recording_id": f"x-{world.mark}",
                "storage_key": world.uploaded["storage_key"],
                "transcript": world.mark,
            }
        ]
    },
    "create_recording_upload_urls": lambda world: {
        "files": [{"filename": "a.wav", "mime_type": "audio/wav", "file_size": 1000}]
    },
    "upload_recording": lambda world: None,
    "update_recording": lambda world: {"recording_id": f"renamed-{world.mark}"},
    "put_spend_limit": lambda world: {"own_limit_cents": 5000},
    "put_call_policy": lambda world: {"countries": ["US", "NO"], "max_hourly_calls_per_caller": 50},
    "add_blocked_caller": lambda world: {"phone_number": "+12015550189", "reason": "x"},
    "put_redaction": lambda world: {"kinds": ["card", "name"], "names": ["Ada Byron"]},
    "put_agent_retention": lambda world: {"recordings_days": 7, "transcripts_days": None, "runs_days": 90},
    "put_retention": lambda world: {
        "recordings_days": 30,
        "transcripts_days": None,
        "runs_days": 365,
        "contacts_days": 60,
        "audit_days": 400,
    },
    "create_data_request": lambda world: {"kind": "erasure", "phone_number": "+12015550187"},
    "add_do_not_call": lambda world: {"phone_numbers": ["+12015550188"]},
    "set_organization_billing": lambda world: {},
    "add_organization_credit": lambda world: {"cents": 100, "note": "x"},
    "set_own_price": lambda world: {
        "kind": "llm",
        "provider": "openai",
        "model": PRICED["model"],
        "valid_from": PRICED["valid_from"],
        "prompt_million": 1,
        "completion_million": 2,
    },
    "create_folder": lambda world: {"name": f"Another {world.mark}"},
    "rename_folder": lambda world: {"name": f"Renamed {world.mark}"},
    "move_workflow_to_folder": lambda world: {"folder_id": world.ids["folder_id"]},
    "create_workflow_from_template": lambda world: {
        "call_type": "inbound",
        "use_case": "appointments",
        "activity_description": "Books appointments",
    },
    "create_workflow_from_catalog": lambda world: {"name": f"Another {world.mark}"},
    "end_text_chat": lambda world: {},
    "replay_run_turn": lambda world: None,
    "rewind_text_chat": lambda world: {},
    "create_tool": lambda world: {"name": f"Another {world.mark}", "category": "calculator", "definition": CALCULATOR},
    "update_tool": lambda world: {"name": f"Renamed {world.mark}"},
    "test_tool_draft": lambda world: {"definition": CALCULATOR, "llm_params": {"expression": "1 + 1"}},
    "test_tool": lambda world: {"llm_params": {"expression": "1 + 1"}},
    "create_credential": lambda world: {
        "name": f"Another {world.mark}",
        "credential_type": "bearer_token",
        "credential_data": {"token": "t"},
    },
    "create_telephony_config": lambda world: {"name": f"Another {world.mark}", "config": {"provider": "sandbox"}},
    "update_telephony_config": lambda world: {"name": f"Renamed {world.mark}"},
    "create_telephony_phone_number": lambda world: {"address": "+12015550171"},
    "update_telephony_phone_number": lambda world: {"label": world.mark},
    "quick_connect": lambda world: {"mode": "new"},
    "update_workflow_run": lambda world: {"note": world.mark, "tags": ["vip"]},
    "update_document": lambda world: {"name": f"Renamed {world.mark}"},
    "search_knowledge": lambda world: {"query": NAME},
    "add_web_page": lambda world: {"address": f"https://shop.test/{world.mark}"},
    "update_credential": lambda world: {"name": f"Renamed {world.mark}"},
}
# Bodies that name something of the organization: another's must be refused like an unknown one.
REFERENCES = frozenset({"test_phone_call", "move_workflow_to_folder", "create_campaign", "create_recordings"})
# Queries that an operation needs, with a valid value.
QUERIES: dict[str, dict[str, str]] = {
    "remove_do_not_call_number": {"phone_number": "+12015550178"},
    "remove_own_price": {"kind": "llm", "provider": "openai", **PRICED},
    "carrier_lookup": {"number": "+12015550177"},
    "available_numbers": {"country": "US"},
    "list_run_strips": {"run_ids": "1"},
}
# Files of a form, where there is one.
FILES: dict[str, dict[str, tuple[str, bytes]]] = {
    "upload_document": {"file": ("another.txt", b"Open from nine to five.")},
    "import_scenarios": {"file": ("scenarios.yaml", b"scenarios: []")},
}
# Ids that make a request to these succeed, where those of the others would not: path parameter -> name in ``World.ids``.
_OF_CHATS = {"run_id": "chat_id"}
IDS: dict[str, dict[str, str]] = {
    "get_text_chat": _OF_CHATS,
    "send_text_chat_message": _OF_CHATS,
    "rewind_text_chat": _OF_CHATS,
    "end_text_chat": _OF_CHATS,
    "get_canary": {"workflow_id": "canary_workflow_id"},
    "change_canary": {"workflow_id": "canary_workflow_id"},
    "get_workflow_run_strip": {"run_id": "ended_run_id"},
    "export_run_evidence": {"run_id": "ended_run_id"},
    "delete_workflow_run": {"run_id": "ended_run_id"},
    "delete_workflow": {"workflow_id": "spare_workflow_id"},
    "delete_campaign": {"campaign_id": "spare_campaign_id"},
    "release_managed_number": {"phone_number_id": "bought_id"},
}
# Who may ask them, where it is not the owner.
ROLES = {"end_session": "viewer"}
# What a valid request to these needs besides is made where they are tested for themselves.
NEED_MORE = {
    "start_canary": "a draft beside a published version: tests/canary",
    "end_canary": "would end the canary that the others need: tests/canary",
    "replay_run": "a call with a journal: tests/runs/test_replayed_periods.py",
    "propose_scenarios": "a process that plays them: tests/scenarios/test_proposed.py",
    "get_scenario_recording": "a call with sound that failed: tests/scenarios/test_play_recordings.py",
    "get_run_scenario": "a call in which somebody spoke: tests/scenarios/test_stored.py",
    "download_data_archive": "an export whose job has run: tests/privacy",
    "enroll_second_factor": "the person's password: tests/orgs",
    "confirm_second_factor": "an authenticator app: tests/orgs",
    "renew_recovery_codes": "an authenticator app: tests/orgs",
    "remove_second_factor": "an authenticator app: tests/orgs",
    "delete_account": "would end the sessions that the others need: tests/orgs/test_account_deletion.py",
    "delete_organization": "would end what the others need: tests/privacy/test_organization_deletion.py",
    "put_identity_provider": "an identity provider: tests/orgs",
    "delete_identity_provider": "an identity provider: tests/orgs",
    "unlink_identity": "an identity provider: tests/orgs",
    "start_provider_sign_in": "an identity provider: tests/orgs",
    "finish_provider_sign_in": "an identity provider: tests/orgs",
    "reset_second_factor": "a member with an authenticator app: tests/orgs",
    "refuse_signup_request": "a request of a stranger: tests/orgs",
    "retry_failed_job": "a job that failed: tests/admin/test_nodes.py",
    "remove_recording_spool": "a machine that is gone: tests/admin/test_nodes.py",
    "replay_run_turn": "a conversation with words: tests/chat/test_turn_replay.py",
    "get_voice_pack_offer": "a mirror: tests/models/voice_packs",
    "start_voice_pack_installation": "a mirror: tests/models/voice_packs",
    "cancel_voice_pack_installation": "a mirror: tests/models/voice_packs",
    "remove_voice_pack": "an installed pack: tests/models/voice_packs",
    "get_workflow_run_recording": "a call that was answered: tests/runs",
    "redial_campaign": "contacts that were dialled: tests/campaigns",
    "delete_campaign_contacts": "a campaign that is over: tests/campaigns",
    "read_web_page_again": "a document that is a web page: tests/knowledge/test_web_pages.py",
    "refresh_mcp_tool": "an MCP server: tests/tools",
    "transcribe_recording": "as much time as the recording takes: tests/recordings",
}
