"""State shared by the parts of one call: the leg, the clock, the event stream and the settings."""

from dataclasses import dataclass, field

from offhook.kit.json_values import JsonObject, ReadableJsonObject
from offhook.voice.call_inputs import current_inputs
from offhook.voice.config import CallConfig
from offhook.voice.dialog.phrases import CannedPhrases
from offhook.voice.events import VoiceEvent
from offhook.voice.ports import (
    AgentToolbox,
    CallLeg,
    CallRecorder,
    EmptyKnowledgeSource,
    EmptySoundLibrary,
    KnowledgeSource,
    RunSink,
    SoundLibrary,
    TurnDetector,
)
from offhook.workflows.graph import WorkflowGraph


@dataclass(frozen=True, slots=True)
class CallAgent:
    """The agent of a call: its graph, settings, tools, recordings and documents; ``context`` fills templates and
    grows. ``topics`` are sentences of its documents, whose words a recognizer without a vendor hears better.
    ``turn_detector`` is the installation's, used if the settings turn it on."""

    graph: WorkflowGraph
    config: CallConfig
    toolbox: AgentToolbox
    context: JsonObject
    sounds: SoundLibrary = field(default_factory=EmptySoundLibrary)
    knowledge: KnowledgeSource = field(default_factory=EmptyKnowledgeSource)
    topics: tuple[str, ...] = ()
    turn_detector: TurnDetector | None = None


class CallContext:
    """One call's leg, clock, phrases and events. ``now`` is loop time, ``since_start`` seconds on the call's audio clock."""

    def __init__(
        self,
        leg: CallLeg,
        sink: RunSink,
        recorder: CallRecorder | None,
        *,
        phrases: CannedPhrases,
        elapsed_s: float = 0.0,
    ) -> None:
        """``phrases``: what the call says without a model, in its language. ``elapsed_s``: how long ago the call began,
        if it began in another process."""
        self.inputs = current_inputs()
        self.now = self.inputs.time
        self.started_at = self.now() - elapsed_s
        self.leg = leg
        self.phrases = phrases
        self.recorder = recorder
        self._sink = sink

    def since_start(self) -> float:
        return self.now() - self.started_at

    def elapsed_s(self) -> float:
        """Returns the same for those outside of the call."""
        return self.inputs.time_outside() - self.started_at

    def emit(self, kind: str, data: ReadableJsonObject) -> None:
        event = VoiceEvent(kind, round(self.since_start(), 3), data)
        self._sink.emit(event)
        self.leg.send_event(event)
