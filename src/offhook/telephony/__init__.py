"""Telephone calls: carriers by capability, the media path that they share, and placing calls."""

from typing import Final

from offhook.kit.data_folder import DataFolder
from offhook.models.ports import ModelSource, Tts
from offhook.root import Root
from offhook.runs import LiveRuns
from offhook.runs.call_tools import TransferDesk
from offhook.telephony.carrier_http import CarrierHttp
from offhook.telephony.carriers import all_carriers
from offhook.telephony.endpoints import public, telephony
from offhook.telephony.events import CallEnded
from offhook.telephony.gate import MediaGate, SandboxBook, SandboxExchange
from offhook.telephony.outbound import CallOrder, Outbound, PlacedCall
from offhook.telephony.ports import Carriers, CarrierSpec
from offhook.telephony.providers.sandbox.network import SandboxNetwork
from offhook.telephony.providers.sandbox.transfers import SandboxTransfers
from offhook.telephony.providers.sandbox.voice import TtsVoice
from offhook.telephony.providers.sandbox.wire import SandboxWire
from offhook.telephony.service import SANDBOX, CallReports
from offhook.telephony.transfer import Transfers

__all__ = ["CallEnded", "CallOrder", "CallReports", "Carriers", "MediaGate", "Outbound", "PlacedCall", "register"]

# Unlike the agent's, so that the two can be told apart by ear, and the one that our own ears understand best: over a
# telephone band 19 of 20 phrases of the demo agents in a grammar of 32, where the plain voice gets 14.
CALLER_VOICE: Final = "en-us+klatt3"


def register(root: Root) -> None:
    """Add the carriers, the media socket and the endpoints that place calls."""
    reports = CallReports(root.db, root.events)
    http = CarrierHttp(root.settings.carrier_urls)
    carriers = all_carriers(http)
    gate = MediaGate(root.db, carriers, root.get(LiveRuns), reports)

    def caller_tts() -> Tts:
        source: ModelSource = root.services[ModelSource]
        voice = {"provider": "builtin", "voice_id": CALLER_VOICE}
        return source.for_call({"models": {"tts": voice}}).tts[0]

    def server() -> str | None:
        running = DataFolder(root.settings.data_dir).running()
        return root.settings.server_url or (running.url if running else None) or root.settings.public_url

    exchange = SandboxExchange(root.db, gate, reports, root.get(LiveRuns), server)
    network = SandboxNetwork(exchange, TtsVoice(caller_tts), SandboxBook(root.db))
    transfers = SandboxTransfers()
    carriers.add(CarrierSpec(SANDBOX, dialer=network, finder=network, wire=SandboxWire, transferrer=transfers))
    root.on_work.append(exchange.go_remote)
    root.provide(TransferDesk, Transfers(root.db, carriers))  # type: ignore[type-abstract]  # found by its port
    root.provide(CallReports, reports)
    root.provide(Carriers, carriers)
    root.provide(MediaGate, gate)
    root.provide(Outbound, Outbound(root.db, carriers, reports))
    root.api.include_router(telephony)
    root.api.include_router(public)
    root.on_stop.append(http.aclose)
    root.on_stop.append(network.close)
