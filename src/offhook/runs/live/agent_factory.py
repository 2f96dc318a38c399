"""Builds the agents of calls and text chats from the services of the domains below."""

from dataclasses import dataclass

from offhook.kit.json_values import JsonObject
from offhook.knowledge import PassageLookup
from offhook.models.ports import ModelSource
from offhook.recordings import RecordingLibrary
from offhook.runs.live.call_knowledge import CallKnowledge
from offhook.runs.live.call_sounds import CallSounds
from offhook.runs.live.call_tools import RecordingControl
from offhook.runs.live.tool_registry import ToolRegistry
from offhook.runs.tables import Run
from offhook.voice.call_context import CallAgent
from offhook.voice.config import CallConfig
from offhook.voice.ports import TurnDetector
from offhook.workflows.graph import WorkflowGraph


@dataclass(slots=True)
class AgentFactory:
    """Builds one agent per conversation; ``models`` has the models that it uses. Processes that carry calls set
    ``turn_detector`` if the installation has one."""

    tools: ToolRegistry
    recordings: RecordingLibrary
    passages: PassageLookup
    models: ModelSource
    turn_detector: TurnDetector | None = None

    async def build_agent(
        self,
        run: Run,
        graph: WorkflowGraph,
        configurations: JsonObject,
        context: JsonObject,
        recording: RecordingControl | None = None,
        *,
        expects_words: bool = False,
    ) -> CallAgent:
        """Builds the agent of a run. ``context`` is live: it grows as the agent learns values. ``expects_words``: the caller
        is heard by a recognizer that wants to know what is talked about."""
        knowledge = CallKnowledge(self.passages, run.organization_id)
        refs = {ref for node in graph.nodes.values() for ref in node.document_refs} if expects_words else set()
        return CallAgent(
            graph=graph,
            config=CallConfig.from_configurations(configurations),
            toolbox=await self.tools.toolbox_for_run(run, graph, context, recording),
            context=context,
            sounds=CallSounds(self.recordings, run.organization_id),
            knowledge=knowledge,
            topics=await knowledge.find_sentences(sorted(refs)) if refs else (),
            turn_detector=self.turn_detector,
        )
