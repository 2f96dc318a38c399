"""The graph interpreter: tracks the current node, prompts the model there and acts on its answer."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from offhook.kit.json_values import JsonObject
from offhook.knowledge.passages import KnowledgePassage
from offhook.models.ports import Expectation, LlmMessage, LlmRequest, ToolCall, ToolCalled
from offhook.voice import events
from offhook.voice.call_context import CallAgent
from offhook.voice.dialog.answer_source import AnswerSource
from offhook.voice.dialog.call_language import LanguageWords
from offhook.voice.dialog.compaction import HistoryCompactor
from offhook.voice.dialog.extraction import VariableExtractor
from offhook.voice.dialog.history import ConversationHistory
from offhook.voice.dialog.llm_chain import Emit, LlmChain
from offhook.voice.dialog.prompts import (
    edge_tools,
    expectation_for,
    expected_sentences,
    hint_for,
    system_message,
    tools_named_by,
    written_opening,
)
from offhook.voice.dialog.retrieval import PassageRetriever, render_background
from offhook.voice.dialog.spoken_clock import spoken_clock
from offhook.voice.dialog.steps import (
    AgentSpeech,
    ConversationEnded,
    ConversationState,
    ConversationStep,
    NodeEntered,
    ToolStarted,
    read_speech,
)
from offhook.voice.dialog.tool_call_executor import ToolCallExecutor
from offhook.voice.errors import EmptyTurn
from offhook.voice.ports import AgentTool, EndCallRequest, ToolAnnouncement
from offhook.workflows.graph import Edge, Node
from offhook.workflows.template import find_variables, render_template

# A model that keeps taking edges or calling tools without speaking is stopped after this many steps.
MAX_STEPS = 8
# A sentence with the wrong day in it is worse than a short wait, but a longer one would be heard.
EXTRACTION_WAIT_S = 1.2


class Conversation:
    """One conversation on any channel. ``context`` is the template context and grows as the agent learns values.

    ``sample_rate`` is the rate of the line that recordings are played on.
    """

    def __init__(
        self,
        *,
        agent: CallAgent,
        llm: LlmChain,
        emit: Emit,
        is_spoken: bool = True,
        sample_rate: int = 8000,
    ) -> None:
        graph = agent.graph
        if graph.start_id is None:
            raise ValueError("the workflow has no start node")
        self.graph = graph
        self._sentences = expected_sentences(graph, agent.topics) if is_spoken else ()
        self.context = agent.context
        self._llm = llm
        self.answers: AnswerSource = llm
        self._toolbox, self._sounds = agent.toolbox, agent.sounds
        self._sample_rate = sample_rate
        self._emit, self._is_spoken = emit, is_spoken
        self._tools = ToolCallExecutor(emit)
        self.retriever = PassageRetriever(agent.knowledge, emit)
        self._caller_text: str | None = None
        self.language = LanguageWords()
        self.told_first = ""  # the disclosure, which is no turn
        self._extractor = VariableExtractor(llm, emit, graph)
        self._compactor = HistoryCompactor(llm, emit, is_on=agent.config.is_compaction_on)
        self.history = ConversationHistory()
        self.nodes_visited: list[str] = []
        self._entered, self.is_over = True, False
        self.node = graph.nodes[graph.start_id]

    # -- position in the graph -------------------------------------------------------------------------------------

    def enter_start_node(self, node_id: str | None = None) -> None:
        """Enters the graph where it starts, or at the node of a test."""
        self.node = self.graph.nodes[node_id] if node_id is not None else self.node
        edges = self.outgoing_edges()
        self._llm.prepare([text for edge in edges for text in (edge.label, edge.condition, *edge.examples)])
        self._enter_node(self.node)

    def _enter_node(self, node: Node) -> None:
        self.node = node
        self._entered = True
        self.nodes_visited.append(node.name)
        self._emit(events.NODE_ENTERED, {"node_id": node.id, "name": node.name, "kind": node.kind})

    def outgoing_edges(self) -> tuple[Edge, ...]:
        return self.graph.edges_from(self.node.id)

    def caller_expectation(self) -> Expectation:
        spoken = (self.language.first, self.language.tag)
        return expectation_for(self.node, self.outgoing_edges(), self._sentences, spoken)

    @property
    def gathered_context(self) -> JsonObject:
        """Returns the values that the run keeps: extracted variables, flat and under their own key, and visited
        nodes."""
        values = self._extractor.values
        said = self.end_request.gathered_context if self.end_request is not None else {}
        return {**values, **said, "extracted_variables": dict(values), "nodes_visited": list(self.nodes_visited)}

    @property
    def end_request(self) -> EndCallRequest | None:
        """Returns the request of the tool that ended the conversation."""
        return self._tools.end_request

    # -- one turn -------------------------------------------------------------------------------------------------

    async def respond(self, heard: str | None, *, edge: Edge | None = None) -> AsyncGenerator[ConversationStep, None]:
        """Answers the caller. ``heard`` is None in the first turn; ``edge`` was selected by keypad."""
        self._caller_text, messages = heard, self.history.messages
        messages = self._compactor.apply_summary(messages + await self._tools.wait_for_side_effects())
        self.history.begin_turn(messages, heard)
        if self.end_request is not None:  # the caller interrupted the goodbye: the conversation goes on
            self._tools.end_request, self.is_over = None, False
        if edge is not None:
            async with aclosing(self._take_edge(edge, by="dtmf")) as moving:
                async for step in moving:
                    yield step
        for _ in range(MAX_STEPS):
            at = self.node
            calls: list[ToolCall] = []
            async with aclosing(self._run_node(calls)) as steps:
                async for step in steps:
                    yield step
            if self.end_request is not None:
                self.is_over = True
                yield ConversationEnded(self.end_request.reason)
                return
            if calls:
                continue
            if at.kind == "endCall":
                self.is_over = True
                yield ConversationEnded()
            return
        raise EmptyTurn

    async def _run_node(self, calls: list[ToolCall]) -> AsyncGenerator[ConversationStep, None]:
        """Runs the current node; ``calls`` collects the model's calls, which require another step."""
        if self._entered:  # a node that uses a variable waits briefly for its extraction
            texts = [self.node.prompt, self.node.say or "", str(self.node.data.get("offline_say") or "")]
            names = {variable.path for text in texts for variable in find_variables(text)}
            await self._extractor.wait_for(names, EXTRACTION_WAIT_S)
        self.context.update(self._extractor.values)
        opening = await self._scripted_opening()
        if opening is not None:
            self._entered = False
            if opening.text:
                self.history.add_agent_message(opening.text)
                yield opening
            return
        async with aclosing(self._ask_model(calls)) as pieces:
            async for piece in pieces:
                yield piece
        self._entered = False
        edge = next((found for call in calls if (found := self._edge_for_call(call))), None)
        async with aclosing(self._run_tools(calls)) as started:
            async for step in started:
                yield step
        if edge is not None:
            async with aclosing(self._take_edge(edge, by="model")) as moving:
                async for step in moving:
                    yield step

    async def _scripted_opening(self) -> AgentSpeech | None:
        """Returns the written sentence or recording that opens this node; None when the model speaks."""
        if not self._entered:
            return None
        return await self.scripted_speech(*written_opening(self.node, self.context))

    async def scripted_speech(
        self, text: str | None, recording: str | None, otherwise: str = "model"
    ) -> AgentSpeech | None:
        """Returns the text in the language of the call, else the recording, else the text; None when there is neither.

        ``otherwise`` is the fallback that the event reports.
        """
        clock = spoken_clock(self.language.language_of(text or ""))
        text, recording = self.language.translate(text, recording)
        if recording is not None:
            sound = await self._sounds.find_sound(recording, self._sample_rate)
            if sound is not None:
                return AgentSpeech(sound.transcript, is_scripted=True, sound=sound)
            instead = otherwise if text is None else "text"
            self._emit(events.RECORDING_MISSING, {"recording_id": recording, "instead": instead})
        return None if text is None else AgentSpeech(render_template(text, self.context, clock=clock), is_scripted=True)

    async def _ask_model(self, calls: list[ToolCall]) -> AsyncGenerator[AgentSpeech, None]:
        passages = await self.retriever.passages_for_turn(self.node, self._caller_text)
        request = self._build_request(passages, self.history.messages)
        for attempt in (1, 2):
            said: list[str] = []
            try:
                async with aclosing(self.answers.stream(request)) as stream:
                    async for event in stream:
                        if (speech := read_speech(event)) is not None:
                            said.append(speech.text)
                            yield speech
                        elif isinstance(event, ToolCalled):
                            calls.append(event.call)
            finally:
                # also when the caller interrupts: the generated text is cut to the heard part afterwards
                text = "".join(said).strip()
                if text or calls:
                    self.history.add_agent_message(text, tuple(calls))
                    self._tools.expect_answers(calls)
            if text or calls:
                return
            if attempt == 1:
                self._emit(events.WATCHDOG_ACTED, {"step": "retry", "reason": "empty_turn", "silent_ms": 0})
        raise EmptyTurn

    def request_ahead(self, heard: str) -> LlmRequest | None:
        """Returns what the model will be asked if these are all of the caller's words; None where something else comes
        first, or is not known yet."""
        passages = self.retriever.known_passages(self.node, heard)
        is_open = self._tools.has_open_calls or self._compactor.is_due
        if passages is None or self._entered or self.is_over or is_open:
            return None
        self.context.update(self._extractor.values)
        return self._build_request(passages, [*self.history.messages, LlmMessage("user", heard)])

    def _build_request(self, passages: Sequence[KnowledgePassage], messages: Sequence[LlmMessage]) -> LlmRequest:
        node, edges = self.node, self.outgoing_edges()
        tools = self._node_tools()
        system = system_message(self.graph, node, self.context, self.language, is_spoken=self._is_spoken)
        system += render_background(self.told_first, self._compactor.summary, passages)
        persona = (self.graph.global_prompt or "") if node.add_global_prompt else ""
        hint = hint_for(
            node,
            edges if self._is_spoken else tuple(replace(edge, digits=None) for edge in edges),
            tools,
            self.context,
            entered=self._entered,
            passages=passages,
            persona=persona,
            known_variables=self._extractor.known_variables,
        )
        return LlmRequest(
            messages=[LlmMessage("system", system), *messages],
            tools=[*edge_tools(edges, self.context), *(tool.spec for tool in tools)],
            hint=replace(hint, is_revisit=self.nodes_visited.count(node.name) > 1),
        )

    def _node_tools(self) -> Sequence[AgentTool]:
        offered = self._toolbox.for_node(*tools_named_by(self.node))
        # an MCP server's catalog may grow after validation, and vendors reject two functions of one name
        taken = {edge.tool_name for edge in self.outgoing_edges()}
        return [tool for tool in offered if tool.spec.name not in taken]

    # -- edges and tools ------------------------------------------------------------------------------------------

    def _edge_for_call(self, call: ToolCall) -> Edge | None:
        return next((edge for edge in self.outgoing_edges() if edge.tool_name == call.name), None)

    async def _run_tools(self, calls: Sequence[ToolCall]) -> AsyncGenerator[ConversationStep, None]:
        by_name = {tool.spec.name: tool for tool in self._node_tools()}
        for call in calls:
            if self._edge_for_call(call) is not None:
                self._tools.set_answer(call, {"ok": True})
            elif (tool := by_name.get(call.name)) is None:
                self._tools.set_answer(call, {"error": f"There is no function {call.name!r} here."})
            else:
                announced = await self._prepare_announcement(tool.announcement)
                if announced is not None:
                    yield announced
                yield ToolStarted(call.name, tool.blocks_barge_in)
                if await self._tools.run_tool(call, tool):
                    announced = await self._prepare_announcement(tool.success_announcement)
                    if announced is not None:
                        yield announced
        self.history.add_tool_answers(self._tools.take_answers())

    async def _prepare_announcement(self, what: ToolAnnouncement) -> AgentSpeech | None:
        speech = await self.scripted_speech(what.text, what.recording, otherwise="nothing")
        if speech is not None and speech.text:
            self.history.append_to_tool_call(speech.text)
        return speech

    async def _take_edge(self, edge: Edge, *, by: str) -> AsyncGenerator[ConversationStep, None]:
        self._extractor.start_extraction(self.node, self._compactor.with_summary(self.history.messages))
        self._emit(
            events.EDGE_TAKEN,
            {"edge_id": edge.id, "label": edge.label, "from": edge.source, "to": edge.target, "by": by},
        )
        self._compactor.start_summary(self.history.messages)
        speech = await self.scripted_speech(edge.transition_speech, edge.transition_recording)
        if speech is not None and speech.text:
            self.history.add_agent_message(speech.text)
            yield speech
        self._enter_node(self.graph.nodes[edge.target])
        yield NodeEntered(self.node)

    # -- the end --------------------------------------------------------------------------------------------------

    async def finish(self, timeout_s: float = 5.0) -> None:
        """Extracts the last node's variables and waits for running extractions and side effects."""
        self._compactor.cancel()
        self.retriever.cancel()
        await self._tools.cancel_call_bound_tools()
        self.history.add_tool_answers(await self._tools.wait_for_side_effects())
        if any(message.role == "user" for message in self.history.messages):
            self._extractor.start_extraction(self.node, self._compactor.with_summary(self.history.messages))
        await self.wait_until_settled(timeout_s)

    async def wait_until_settled(self, timeout_s: float = 5.0) -> None:
        """Waits for running extractions and side effects, so that a snapshot includes their results."""
        self.history.add_tool_answers(await self._tools.wait_for_side_effects())
        await self._extractor.wait_or_cancel(timeout_s)
        self.context.update(self._extractor.values)

    def snapshot(self) -> ConversationState:
        """Returns the state that another process needs to continue the conversation."""
        return {
            "node_id": self.node.id,
            "entered": self._entered,
            "is_over": self.is_over,
            "history": self.history.snapshot(self._tools.answers_so_far()),
            "nodes_visited": list(self.nodes_visited),
            "values": dict(self._extractor.values),
            "summary": self._compactor.summary,
        }

    def restore(self, state: ConversationState) -> None:
        """Continues a conversation from the result of :meth:`snapshot`."""
        self.node = self.graph.nodes[state["node_id"]]
        self._entered = state["entered"]
        self.is_over = state["is_over"]
        self.nodes_visited = list(state["nodes_visited"])
        self._compactor.summary = state.get("summary", "")
        self._extractor.values.update(state["values"])
        self.context.update(state["values"])
        self.history.restore(state["history"])
