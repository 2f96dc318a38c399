"""The sandbox: a telephone network inside the process, whose simulated callees answer, talk and hang up."""

from typing import Final

from offhook.kit.files.data_folder import DataFolder
from offhook.models.ports import ModelSource, Tts
from offhook.root import Root
from offhook.runs import RunServices
from offhook.telephony.calls.status_reports import CallReports
from offhook.telephony.media.admission import MediaAdmission
from offhook.telephony.ports import (
    AccountCapabilities,
    CallCapabilities,
    CarrierRegistry,
    CarrierSpec,
    MediaCapabilities,
    NumberCapabilities,
)
from offhook.telephony.providers.sandbox.call_log import SandboxCallLog
from offhook.telephony.providers.sandbox.caller_voice import TtsVoice
from offhook.telephony.providers.sandbox.catalog import SandboxCatalog
from offhook.telephony.providers.sandbox.config import CONFIG, NAME, SandboxConfig
from offhook.telephony.providers.sandbox.exchange import SandboxExchange
from offhook.telephony.providers.sandbox.network import SandboxNetwork
from offhook.telephony.providers.sandbox.transfers import SandboxTransfers
from offhook.telephony.providers.sandbox.wire import SandboxWire

# Differs from the agent's voice, so that the two can be told apart by ear. The builtin recognizer understands it best:
# over a telephone band 19 of 20 phrases of the demo agents in a grammar of 32, where the plain voice gets 14.
CALLER_VOICE: Final = "en-us+klatt3"


def register_carrier(root: Root, carriers: CarrierRegistry, admission: MediaAdmission, reports: CallReports) -> None:
    """Adds the sandbox, which is built from the platform's own parts, to ``carriers``."""

    def load_caller_tts() -> Tts:
        source: ModelSource = root.services[ModelSource]
        return source.for_call({"models": {"tts": {"provider": "builtin", "voice_id": CALLER_VOICE}}}).tts[0]

    def find_server_url() -> str | None:
        running = DataFolder(root.settings.data_dir).running_server()
        return root.settings.server_url or (running.url if running else None) or root.settings.public_url

    exchange = SandboxExchange(root.db, admission, reports, root.get(RunServices).live, find_server_url)
    network = SandboxNetwork(exchange, TtsVoice(load_caller_tts), SandboxCallLog(root.db))
    root.on_work.append(exchange.use_remote_server)
    carriers.add(
        CarrierSpec(
            NAME,
            calls=CallCapabilities(
                dialer=network,
                finder=network,
                transferrer=SandboxTransfers(),
                local_phones=network,
                calls_per_second=None,
                limits_by_number=False,
                default_caller_number=SandboxConfig().from_number,
            ),
            media=MediaCapabilities(wire=SandboxWire),
            numbers=NumberCapabilities(catalog=SandboxCatalog(root.db)),
            account=AccountCapabilities(config=CONFIG, is_optional=True),
            is_in_process=True,
            close=network.close,
        )
    )
