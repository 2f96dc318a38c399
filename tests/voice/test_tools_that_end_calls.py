"""Tools that say something, end the call or hand the caller over, on virtual time."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from offhook.kit.json_values import as_json_object
from offhook.runs.live.call_tools import (
    CallHandover,
    EndCallTool,
    ToolText,
    TransferRefused,
    TransferTool,
    build_end_call_tool,
    build_transfer_tool,
)
from offhook.tools.definitions import EndCallConfig, TransferCallConfig
from offhook.voice import events
from offhook.voice.ports import HandoverFailed, ToolAnnouncement
from tests.fakes.scripted import calls, says
from tests.fakes.voice import ScriptedTool, Tools
from tests.voice.phone import Call, simple_agent

SALES, SUPPORT = "+14155550101", "+14155550102"


@dataclass
class Desk:
    """Implements TransferDesk and Handover: destinations that answer after ``after_s``, or do not."""

    after_s: float = 3.0
    refuses: str | None = None
    connection_fails: bool = False
    log: list[str] = field(default_factory=list)

    async def ring_destination(
        self, organization_id: int, run_id: int, number: str, timeout_s: float, *, is_blind: bool = False
    ) -> CallHandover:
        self.log.append(f"ring {number}")
        try:
            await asyncio.sleep(self.after_s)
        except asyncio.CancelledError:
            self.log.append("stopped")
            raise
        if self.refuses is not None:
            raise TransferRefused(self.refuses)
        return self

    async def connect_caller(self) -> None:
        self.log.append("connect")
        if self.connection_fails:
            raise HandoverFailed("gone")

    async def release_destination(self) -> None:
        self.log.append("release")


def transfer(desk: Desk | None, **config: Any) -> TransferTool:
    places = [{"name": "Sales", "phone_number": SALES}, {"name": "Support", "phone_number": SUPPORT}]
    made = TransferCallConfig.model_validate(
        {"destinations": places, "messageType": "custom", "customMessage": "I will put you through.", **config}
    )
    return build_transfer_tool(ToolText("transfer", "Transfer the caller."), made, 1, 7, desk)


def agent(*tools: str) -> dict[str, Any]:
    return simple_agent(tool_uuids=list(tools))


class TestEndCall:
    def tool(self, **config: Any) -> EndCallTool:
        made = {"messageType": "custom", "customMessage": "Bye, {{ first_name | dear caller }}.", **config}
        return build_end_call_tool(ToolText("end_call", ""), EndCallConfig.model_validate(made))

    def test_the_goodbye_is_played_before_the_call_ends(self) -> None:
        call = Call(agent("end_call"), [calls("end_call")], tools=Tools(self.tool()), context={"first_name": "Ann"})
        call.says("That was all", at=3).run()

        assert call.agent_said[-1] == "Bye, Ann."
        assert call.result is not None
        assert (call.result.outcome, call.result.end_reason) == ("answered", "agent_ended")
        assert call.leg.hung_up_at is not None
        assert call.leg.hung_up_at >= call.leg.frames[-1][0]

    def test_the_reason_is_kept(self) -> None:
        tool = self.tool(endCallReason=True)
        call = Call(agent("end_call"), [calls("end_call", reason="not interested")], tools=Tools(tool))
        call.says("No", at=3).run()

        assert call.result is not None
        assert call.result.gathered_context["call_disposition"] == "not interested"
        assert "not interested" in call.result.tags

    def test_a_caller_who_interrupts_the_goodbye_is_answered(self) -> None:
        tool = self.tool(customMessage="Goodbye and thank you very much for calling us today, have a nice day.")
        call = Call(agent("end_call"), [calls("end_call"), says("Of course.")], tools=Tools(tool))
        call.says("That was all", at=3).says("Wait please", at=5.8).hangs_up(at=15).run()

        assert "Of course." in call.agent_said
        assert call.result is not None
        assert call.result.end_reason == "caller_hung_up"


class TestTransfer:
    def run(self, desk: Desk, *replies: Any, **more: Any) -> Call:
        call = Call(agent("transfer"), [calls("transfer", destination="sales"), *replies], tools=Tools(transfer(desk)))
        call.says("Sales please", at=3)
        if "hangs_up" in more:
            call.hangs_up(at=more["hangs_up"])
        if "speaks" in more:
            call.says("Hello are you there", at=more["speaks"])
        return call.run()

    def test_answered(self) -> None:
        desk = Desk()
        call = self.run(desk)

        assert desk.log == [f"ring {SALES}", "connect"]
        assert "I will put you through." in call.agent_said[-1]
        assert call.result is not None
        assert (call.result.outcome, call.result.end_reason) == ("transferred", "transferred")
        assert call.result.gathered_context["transferred_to"] == "Sales"
        assert call.leg.hung_up_at is None

    def test_refused_and_the_model_goes_on(self) -> None:
        for reason in ("busy", "no_answer", "call_failed"):
            desk = Desk(refuses=reason)
            call = self.run(desk, says("They are not there. Shall I take a message?"), hangs_up=15)

            (answer,) = call.sink.of(events.TOOL_ANSWERED)
            assert answer["error"].startswith(f"TRANSFER_FAILED ({reason})")
            assert call.agent_said[-1] == "I will put you through. They are not there. Shall I take a message?"
            assert desk.log == [f"ring {SALES}"]

    def test_what_the_caller_says_meanwhile_is_kept_for_the_answer(self) -> None:
        desk = Desk(after_s=8, refuses="busy")
        call = self.run(desk, says("Busy."), says("Yes, I am here."), speaks=8, hangs_up=25)

        assert not call.sink.of(events.BARGED_IN)
        assert len(desk.log) == 1
        assert "Yes, I am here." in call.agent_said

    def test_the_caller_hears_something_while_it_rings(self) -> None:
        call = self.run(Desk(after_s=12))
        assert call.heard_within(8, 4)
        assert call.result is not None
        assert call.result.outcome == "transferred"

    def test_a_caller_who_hangs_up_stops_the_ringing(self) -> None:
        desk = Desk(after_s=20)
        call = self.run(desk, hangs_up=8)
        assert desk.log == [f"ring {SALES}", "stopped"]
        assert call.result is not None
        assert (call.result.outcome, call.result.end_reason) == ("answered", "caller_hung_up")

    def test_a_connection_that_fails_ends_the_call(self) -> None:
        desk = Desk(connection_fails=True)
        call = self.run(desk)
        assert call.leg.hung_up_at is not None
        assert call.result is not None
        assert "handover_failed" in call.result.tags

    def test_only_configured_destinations_exist(self) -> None:
        desk = Desk()
        tools = Tools(transfer(desk))
        call = Call(agent("transfer"), [calls("transfer", destination="+19005550100"), says("Which one?")], tools=tools)
        call.says("Call plus one nine hundred", at=3).hangs_up(at=10).run()

        assert desk.log == []
        (answer,) = call.sink.of(events.TOOL_ANSWERED)
        assert "Sales, Support" in answer["error"]
        properties = as_json_object(transfer(desk).spec.parameters["properties"])
        assert as_json_object(properties["destination"])["enum"] == ["Sales", "Support"]
        assert SALES not in str(transfer(desk).spec)

    def test_a_channel_that_cannot_transfer_says_so(self) -> None:
        call = Call(
            agent("transfer"),
            [calls("transfer", destination="Sales"), says("I cannot.")],
            tools=Tools(transfer(None)),
        )
        call.says("Sales", at=3).hangs_up(at=10).run()
        (answer,) = call.sink.of(events.TOOL_ANSWERED)
        assert "TRANSFER_FAILED (unsupported)" in answer["error"]


def test_a_remark_after_a_tool_comes_before_the_model_goes_on() -> None:
    tool = ScriptedTool("book", {"ok": True}, success_announcement=ToolAnnouncement("I have booked it."))
    call = Call(agent("book"), [calls("book"), says("Anything else?")], tools=Tools(tool))
    call.says("Book it", at=3).hangs_up(at=10).run()
    assert call.agent_said[-1] == "I have booked it. Anything else?"
