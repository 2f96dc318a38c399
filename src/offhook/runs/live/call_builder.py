"""Builds the session of a run: its agent, models, recording and journal."""

from dataclasses import dataclass

from offhook.kit.json_values import JsonObject
from offhook.runs.journals.call_journals import CallJournals
from offhook.runs.live.agent_factory import AgentFactory
from offhook.runs.live.event_writer import RunEventSink
from offhook.runs.live.pre_call_request import PRE_CALL_FETCHED, PreCallFetch
from offhook.runs.recording_files.recorders import CallRecorders
from offhook.runs.records.context import call_configurations, call_context
from offhook.runs.records.projections import RunTally
from offhook.runs.records.word_filter import WordFilter
from offhook.runs.tables import Run
from offhook.voice.call_state import ResumedCall
from offhook.voice.events import VoiceEvent
from offhook.voice.journal.recorded_call import RecordedCall
from offhook.voice.ports import CallLeg, VadEngine
from offhook.voice.recording_switch import RecordingSwitch
from offhook.voice.session import CallSession
from offhook.workflows.graph import WorkflowGraph, parse_graph
from offhook.workflows.service import VersionToRun


@dataclass(frozen=True, slots=True)
class TakenRun:
    """A run that this process carries from now on. ``resumed``: where its call goes on."""

    run: Run
    version: VersionToRun
    words: WordFilter
    tally: RunTally
    resumed: ResumedCall | None = None


@dataclass(frozen=True, slots=True)
class BuiltCall:
    """``journal`` is None where nothing of the call may be kept."""

    session: CallSession
    recording: RecordingSwitch
    journal: RecordedCall | None


class CallBuilder:
    """One per process."""

    def __init__(
        self, agents: AgentFactory, pre_call: PreCallFetch, recorders: CallRecorders, journals: CallJournals
    ) -> None:
        self._agents = agents
        self.pre_call = pre_call
        self._recorders = recorders
        self.journals = journals

    async def build(self, taken: TakenRun, leg: CallLeg, sink: RunEventSink, vad: VadEngine) -> BuiltCall:
        run, version, resumed = taken.run, taken.version, taken.resumed
        graph, context = parse_graph(version.definition), call_context(run, version)
        if any(node.document_refs for node in graph.nodes.values()):
            self._agents.passages.start_warm_up()
        if resumed is None:
            await self._fetch_variables(run, graph, context, sink)
        recording = RecordingSwitch()
        models = await self._agents.models.for_organization(run.organization_id, version.configurations)
        agent = await self._agents.build_agent(
            run,
            graph,
            call_configurations(run, version),
            context,
            recording,
            expects_words=not models.stt[0].has_endpointing,
        )
        if resumed is None or resumed.state["recording"] not in ("off", "discarded"):
            recording.recorder = await self._recorders.open_recorder(
                run, leg.codec, sink, continues=resumed is not None
            )
        journal = self.journals.begin(
            version,
            keeps_words=taken.words.keeps_words,
            is_redacted=taken.words.is_redacting,
            is_resumed=resumed is not None,
        )
        if journal is not None and models.realtime is not None:
            journal.tape.omit("realtime")
        try:
            if journal is not None and not journal.tape.omitted:
                session = journal.build_session(
                    agent=agent, leg=leg, models=models, sink=sink, vad=vad, recording=recording
                )
            else:
                session = CallSession(
                    agent=agent, leg=leg, models=models, sink=sink, vad=vad, recording=recording, resumed=resumed
                )
        except BaseException:
            if recording.recorder is not None:
                await recording.recorder.close()
            raise
        return BuiltCall(session, recording, journal)

    async def _fetch_variables(self, run: Run, graph: WorkflowGraph, context: JsonObject, sink: RunEventSink) -> None:
        """Adds what a customer's server answers before the call."""
        fetched = await self.pre_call.take_result(run, graph.nodes.get(graph.start_id or ""))
        context.update(fetched.variables)
        if fetched.event is not None:
            sink.emit(VoiceEvent(PRE_CALL_FETCHED, 0.0, fetched.event))
