"""A telephone call on virtual time whose journal is kept, and the call that is played from it again."""

import asyncio
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from offhook.models.ports import CallModels
from offhook.voice.call_context import CallAgent
from offhook.voice.config import CallConfig
from offhook.voice.events import is_live_only
from offhook.voice.journal.recorded_call import RecordedCall
from offhook.voice.journal.replay import ReplayedCall, replay_call
from offhook.voice.journal.tape import CallJournal, CallTape, read_journal
from offhook.voice.ports import CallResult
from offhook.voice.recording_switch import RecordingSwitch
from offhook.voice.session import CallSession
from offhook.workflows.graph import parse_graph
from tests.fakes.scripted import ScriptedLlm, ScriptedStt, ScriptedTts
from tests.fakes.voice import LoudnessVad
from tests.voice.phone import Call


@dataclass
class RecordedPhoneCall(Call):
    """A call on virtual time, with its journal."""

    journaled: RecordedCall | None = None
    recording: RecordingSwitch | None = field(default_factory=RecordingSwitch)

    async def _run(self) -> CallResult:
        loop = asyncio.get_running_loop()
        self.started_at = loop.time()
        self.journaled = RecordedCall(
            CallTape(loop.time, max_bytes=1 << 22), started=datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
        )
        models = CallModels(
            llm=tuple(self.llms) or (ScriptedLlm(self.replies),),
            tts=tuple(self.ttss) or (ScriptedTts(),),
            stt=tuple(self.stts) or (ScriptedStt(self.hearing),),
            language=self.language,
            by_language=self.by_language,
        )
        assert self.recording is not None
        self._session: CallSession = self.journaled.build_session(
            agent=self.agent(),
            leg=self.leg,
            models=models,
            sink=self.sink,
            vad=LoudnessVad(),
            recording=self.recording,
        )
        self.leg.on_mark = self._session.feed_mark
        caller = asyncio.create_task(self._caller(loop))
        try:
            return await self._session.run()
        finally:
            caller.cancel()

    def agent(self, **changes: Any) -> CallAgent:
        return CallAgent(
            parse_graph(changes.get("definition", self.definition)),
            CallConfig.from_configurations(changes.get("configurations", self.configurations)),
            self.tools,
            dict(changes.get("context", self.context)),
            self.sounds,
            self.knowledge,
            turn_detector=self.turn_detector,
        )

    def journal(self) -> CallJournal:
        assert self.journaled is not None
        return read_journal(self.journaled.pack())

    def play_again(self, **changes: Any) -> ReplayedCall:
        return replay_call(self.journal(), self.agent(**changes))

    def stored(self) -> list[str]:
        return [
            json.dumps([round(event.at_s * 1000), event.type, event.data])
            for event in self.sink.events
            if not is_live_only(event.type, event.data)
        ]


def replayed(call: ReplayedCall) -> list[str]:
    return [json.dumps([seen.at_ms, seen.data["type"], seen.data["data"]]) for seen in call.events]
