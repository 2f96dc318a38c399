"""The settings: one typed class for all environment variables (``OFFHOOK_*``)."""

from decimal import Decimal
from pathlib import Path
from typing import Final, Literal

import platformdirs
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MIN_SECRET_KEY_BYTES: Final = 32
# Never repeated in a message.
_SECRET_NAMES: Final = frozenset(
    {"SECRET_KEY", "PLATFORM_CARRIER_ACCOUNT", "LLM_API_KEY", "TTS_API_KEY", "STT_API_KEY"}
)


class SettingsError(Exception):
    """A setting is wrong: one sentence that names it."""


class Settings(BaseSettings):
    """Settings of one process. Every field is the environment variable ``OFFHOOK_<FIELD>``."""

    model_config = SettingsConfigDict(env_prefix="OFFHOOK_", extra="ignore", frozen=True)

    data_dir: Path = Field(default_factory=lambda: Path(platformdirs.user_data_dir("offhook")))
    database_url: str | None = None
    # PgBouncer in transaction mode for the same database; LISTEN, the job queue and migrations use database_url.
    database_pooler_url: str | None = None
    # Whether serve and worker bring the database to this version; auto: only the embedded one.
    migrate_at_start: Literal["auto", "on", "off"] = "auto"
    host: str = "127.0.0.1"
    port: int = Field(default=8480, ge=0, le=65535)
    public_url: str | None = None
    # Address of the server for a job process's simulated phones; else the one on this data folder, else public_url.
    server_url: str | None = None
    # Where other processes of the installation reach this one; else host and port, or the machine's address.
    node_url: str | None = Field(default=None, pattern=r"^https?://")
    # Where carriers reach this very process for the audio of calls, past a balancer; else public_url.
    node_public_url: str | None = Field(default=None, pattern=r"^https?://")
    # What Prometheus sends for /metrics, as a bearer token; without one only this machine is answered.
    metrics_token: SecretStr | None = None
    # Where a worker answers /metrics and /health, on OFFHOOK_HOST; 0 takes a free port. None: nowhere.
    worker_metrics_port: int | None = Field(default=None, ge=0, le=65535)
    # Trusted senders of X-Forwarded-* headers: addresses and networks, comma-separated.
    trusted_proxies: str = ""
    # Other REST addresses of carriers, by name, as JSON: {"twilio": "http://127.0.0.1:9001"} (an emulator's).
    carrier_urls: dict[str, str] = Field(default_factory=dict)
    # The account of quick-connect: a carrier that sells numbers, else the simulated one; its fields as JSON.
    platform_carrier: str | None = None
    platform_carrier_account: SecretStr | None = None
    # Whether strangers can ask for an account, and how often in an hour: from one network, and in all.
    signup_enabled: bool = False
    signups_per_network: int = Field(default=5, ge=1)
    signups_per_hour: int = Field(default=100, ge=1)
    # Record a call of a demo agent with a simulated caller, at the first start.
    sample_call: bool = True
    secret_key: SecretStr | None = None
    # Encrypt new recordings, and what is said in new calls, with a key of their organization. Worth it where secret_key is not on the disk of the recordings.
    encrypt_recordings: bool = False
    # What of one call may stand in its journal, for replays, before it is compressed. 0: no call has one.
    call_journal_kb: int = Field(default=8192, ge=0, le=65536)
    # Storage of documents: a bucket that every machine reaches (s3://bucket/prefix, gs://…, az://…) or the data folder.
    storage_url: str | None = Field(default=None, pattern=r"^(s3|gs|az|azure|file|memory)://")
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["text", "json"] = "text"

    llm_provider: str = "builtin"
    llm_model: str | None = None
    llm_base_url: str | None = None
    llm_api_key: SecretStr | None = None
    llm_temperature: float = Field(default=0.3, ge=0, le=2)
    tts_provider: str = "builtin"
    tts_model: str | None = None
    tts_voice: str | None = None
    tts_base_url: str | None = None
    tts_api_key: SecretStr | None = None
    stt_provider: str = "builtin"
    stt_model: str | None = None
    stt_base_url: str | None = None
    stt_api_key: SecretStr | None = None
    stt_processes: int = Field(default=1, ge=1, le=64)
    language: str = "en-US"
    # A model that judges whether callers have finished: an ONNX file, and the SHA-256 that it must have.
    turn_detector_file: Path | None = None
    turn_detector_sha256: str | None = Field(default=None, pattern=r"^[0-9a-fA-F]{64}$")
    # Mirrors of `offhook voices install`: https:// addresses or folders, comma-separated, tried in order.
    voices_url: str = ""

    billing_enforced: bool = False
    platform_cents_per_minute: Decimal = Field(default=Decimal(0), ge=0)
    included_minutes: int = Field(default=0, ge=0)

    # Set aside when a call begins, and again each time a call has used it up; a text chat sets aside at
    # least chat_hold_cents for its next answer. What the conversation really costs replaces it at its end.
    call_hold_cents: int = Field(default=25, ge=1)
    chat_hold_cents: int = Field(default=1, ge=1)
    # What an organization may spend in a day (UTC); 0: without limit. Superusers set another one for an organization.
    daily_spend_limit_cents: int = Field(default=10_000, ge=0)
    # Prices of what the installation's own accounts do besides conversations: a look-up of a number at the carrier; a
    # number whose carrier names no price; a generated agent, a voice preview or a transcript, where billing is enforced.
    lookup_cents: int = Field(default=1, ge=0)
    number_cents: int = Field(default=100, ge=0)
    # Numbers that one organization may buy with the installation's carrier account.
    org_number_limit: int = Field(default=20, ge=0)
    model_request_cents: int = Field(default=1, ge=0)

    # What one organization may store in uploaded files: documents, recordings for agents, contact files. 0: any amount.
    org_storage_limit_mb: int = Field(default=5_000, ge=0)
    # Uploads are refused while the disk of the data folder has less free space than this, and calls are not recorded
    # while it has less than half of it. 0: no floor.
    min_free_disk_mb: int = Field(default=500, ge=0)

    org_concurrency_limit: int = Field(default=10, ge=1)
    max_calls_per_process: int = Field(default=120, ge=1)
    # Of those, what browsers and simulated phones never take; and the share after which an organization's next call has
    # to leave places to others (a half: it holds fewer than stay free). A limit of an organization's own is its weight.
    telephone_call_reserve: float = Field(default=0.25, ge=0, lt=1)
    org_call_share: float = Field(default=0.5, gt=0, le=1)
    # Late in half of all moments by this much, a process takes no further calls.
    max_lateness_ms: int = Field(default=200, ge=20)
    # How long calls may go on after the first signal to stop; then they end with an apology.
    drain_s: float = Field(default=900.0, ge=0)
    run_lease_s: float = Field(default=10.0, ge=2)
    # Campaigns: the wait for a carrier that is silent about a dial (longer than phones ring), and the safety tick.
    campaign_patience_s: float = Field(default=120.0, ge=1)
    campaign_tick_s: float = Field(default=5.0, ge=0.2)
    sweep_interval_s: float = Field(default=5.0, ge=0.2)
    # Requests that tools, webhook nodes and requests before calls may have open at once in a process: those of an
    # organization, and of all to one host.
    org_open_requests: int = Field(default=16, ge=1)
    host_open_requests: int = Field(default=32, ge=2)
    # Names (``crm.internal``, ``localhost:11434``) and networks, comma-separated, that tools, webhooks and models may
    # call even though they are not public.
    egress_allow: str = ""
    local_models: Literal["auto", "on", "off"] = "auto"
    # Turns of one text chat, including undone ones: each is stored with it.
    max_chat_turns: int = Field(default=200, ge=2)
    max_socket_message_bytes: int = Field(default=65536, ge=4096)

    # Connections of one serve: in all (fewer if its file descriptors do not suffice), and of one IPv4 address or IPv6
    # /64 that is neither a trusted proxy nor this machine. Above the calls of a process: a carrier may have one address.
    max_connections: int = Field(default=2000, ge=8)
    connections_per_address: int = Field(default=256, ge=1)
    max_header_bytes: int = Field(default=32768, ge=1024)
    # From the connection, or the first byte of a further request, to the last header.
    header_timeout_s: float = Field(default=15.0, ge=0.1)
    # A whole body, and its average rate after 10 s.
    body_timeout_s: float = Field(default=900.0, ge=0.1)
    min_body_bytes_per_s: int = Field(default=1024, ge=0)
    # Longer than carriers, reverse proxies and HTTP libraries (5 to 60 s) keep an idle connection: the other side must
    # close first, or a request of theirs meets our close and is lost.
    keep_alive_timeout_s: int = Field(default=75, ge=1)

    @field_validator("secret_key")
    @classmethod
    def _require_long_keys(cls, value: SecretStr | None) -> SecretStr | None:
        text = value.get_secret_value() if value is not None else ""
        keys = [key for key in text.split(",") if key.strip()] or [text] * bool(text)
        if any(len(key.strip().encode()) < MIN_SECRET_KEY_BYTES for key in keys):
            raise ValueError(f"each key needs at least {MIN_SECRET_KEY_BYTES} bytes; `openssl rand -hex 32` makes one")
        return value

    @classmethod
    def load(cls, **overrides: object) -> "Settings":
        """Read the environment; raise :class:`SettingsError` with one sentence that names the wrong variable."""
        try:
            return cls(**{k: v for k, v in overrides.items() if v is not None})  # type: ignore[arg-type]
        except ValidationError as error:
            first = error.errors()[0]
            name = "_".join(str(part) for part in first["loc"]).upper()
            message = first["msg"].removeprefix("Value error, ")
            shown = "refused" if name in _SECRET_NAMES else repr(first.get("input"))
            raise SettingsError(f"OFFHOOK_{name} is {shown}: {message}.") from None
