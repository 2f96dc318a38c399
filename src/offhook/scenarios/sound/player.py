"""Plays one scenario as a call: both ends of a line, the real voice session, and what is heard, on virtual time."""

import asyncio
from hashlib import sha256
from pathlib import Path

import numpy as np

from offhook.models.ports import CallModels, Llm
from offhook.scenarios.definition import Scenario
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.scenarios.engine.caller import ScenarioCaller
from offhook.scenarios.engine.outside_models import OutsideModels
from offhook.scenarios.engine.player import PlayedScenario, PlayJournal, build_call_agent
from offhook.scenarios.sound.caller import Listen, SpeakingCaller
from offhook.scenarios.sound.figures import measure_sound
from offhook.scenarios.sound.models import DelayedLlm
from offhook.scenarios.sound.recognizer import StreamingRecognizer
from offhook.scenarios.sound.recording import PlayRecorder
from offhook.scenarios.sound.voices import AgentVoice, OfflineVoice
from offhook.telephony.simulated_line import open_simulated_line
from offhook.voice.input.silero_vad_engine import SileroVad
from offhook.voice.recording_switch import RecordingSwitch
from offhook.voice.session import CallSession


class SoundPlayer:
    """Plays scenarios with sound, one after the other; its voice activity model and its voice are loaded once.

    ``folder`` is for recordings. ``listen`` recognizes what the caller says; without it, it is what the scenario says.
    """

    def __init__(self, folder: Path, listen: Listen | None = None) -> None:
        self._folder = folder
        self._listen = listen
        self._voice = OfflineVoice()
        self._vad = SileroVad()

    def load_models(self) -> None:
        """Raises ModelError without the offline voice, and VadModelMissing."""
        self._vad.load_model()
        self._voice.synthesize("Hello.")

    def close(self) -> None:
        """Ends the voice's program."""
        self._voice.close()

    async def play_call(
        self, agent: ScenarioAgent, scenario: Scenario, llm: Llm, seed: int = 0, *, folder: Path | None = None
    ) -> PlayedScenario:
        """Plays a scenario in the running loop, which has virtual time. ``folder``: another one for its recording."""
        call_agent, missing = build_call_agent(agent, scenario)
        journal = PlayJournal()
        random = np.random.default_rng(list(sha256(f"{scenario.name}/{scenario.seed}/{seed}".encode()).digest()))
        recognizer = StreamingRecognizer(random)
        path = (folder or self._folder) / f"{scenario.name}-{seed}.wav"
        line = await open_simulated_line(scenario.name)
        session = CallSession(
            agent=call_agent,
            leg=line.leg,
            models=CallModels((_with_answer_time(llm),), (AgentVoice(self._voice),), (recognizer,)),
            sink=journal,
            vad=self._vad.for_another_loop(),
            recording=RecordingSwitch(PlayRecorder(path, line.leg.codec)),
        )
        caller = SpeakingCaller(
            scenario,
            ScenarioCaller(scenario, seed, llm if isinstance(llm, OutsideModels) else None),
            line=line,
            session=session,
            journal=journal,
            voice=self._voice,
            recognizer=recognizer,
            listen=self._listen,
        )
        line.leg.attach_session(session)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(line.phone.run())
            tasks.create_task(caller.hold_call())
            result = await session.run()
            line.phone.stop()
        return journal.describe_play(
            caller.collect_turns(),
            result,
            is_over=caller.is_over,
            unmocked=missing.names,
            sound=measure_sound(path, caller.acts, journal.events),
        )


def _with_answer_time(llm: Llm) -> Llm:
    # a vendor's answers have times of their own
    return llm if isinstance(llm, OutsideModels) else DelayedLlm(llm)
