"""A live call with a journal: its session is built with ports and inputs that note what comes through them."""

import json
from datetime import datetime
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.models.ports import CallModels
from offhook.voice import events
from offhook.voice.call_context import CallAgent
from offhook.voice.call_inputs import use_call_inputs
from offhook.voice.events import VoiceEvent
from offhook.voice.journal.recorded_inputs import RecordedInputs
from offhook.voice.journal.recorded_ports import AnswerJournal, RecordedLeg, RecordedVad, record_agent, record_models
from offhook.voice.journal.tape import CallTape
from offhook.voice.ports import CallLeg, RunSink, VadEngine
from offhook.voice.recording_switch import RecordingSwitch
from offhook.voice.session import CallSession

# Whoever asks that a stretch of the call is not recorded does not want it in the journal either.
_OMITS: Final = {events.RECORDING_PAUSED: "recording_paused", events.RECORDING_DISCARDED: "recording_discarded"}


class RecordedCall:
    """The journal of one call. ``facts`` are what a replay builds the call from."""

    def __init__(self, tape: CallTape, *, started: datetime) -> None:
        self.tape = tape
        self.facts: JsonObject = {"started": started.isoformat()}

    def build_session(
        self,
        *,
        agent: CallAgent,
        leg: CallLeg,
        models: CallModels,
        sink: RunSink,
        vad: VadEngine,
        recording: RecordingSwitch,
    ) -> CallSession:
        """Returns the session of the call, whose ports are noted in the journal."""
        journal = AnswerJournal(self.tape)
        recorded = record_models(models, journal, leg.codec)
        self.facts |= {
            "codec": leg.codec.name,
            "confirms_playback": leg.confirms_playback,
            "is_recorded": recording.recorder is not None,
            "language": models.language,
            "llm": [[llm.model_ref.provider, llm.model_ref.model] for llm in recorded.llm],
            **_speech_facts(recorded),
            "languages": {language: _speech_facts(models) for language, models in recorded.by_language.items()},
            # as it is now: it grows
            "context": json.loads(json.dumps(agent.context, default=str)),
        }
        with use_call_inputs(RecordedInputs(self.tape, journal)):
            return CallSession(
                agent=record_agent(agent, journal),
                leg=RecordedLeg(leg, journal),
                models=recorded,
                sink=_OmittingSink(sink, self.tape),
                vad=RecordedVad(vad, self.tape),
                recording=recording,
            )

    def pack(self) -> bytes:
        return self.tape.pack(self.facts)


def _speech_facts(models: CallModels) -> JsonObject:
    return {
        "tts": [[tts.model_ref.provider, tts.model_ref.model, tts.sample_rate] for tts in models.tts],
        "stt": [[stt.model_ref.provider, stt.model_ref.model, stt.has_endpointing] for stt in models.stt],
    }


class _OmittingSink:
    """Implements RunSink: drops the journal of a call that is not to be kept whole."""

    def __init__(self, sink: RunSink, tape: CallTape) -> None:
        self._sink: Any = sink
        self._tape = tape

    def emit(self, event: VoiceEvent) -> None:
        if event.type in _OMITS:
            self._tape.omit(_OMITS[event.type])
        self._sink.emit(event)
