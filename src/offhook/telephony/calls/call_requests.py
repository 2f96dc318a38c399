"""Places the calls that the API requests, each once per idempotency key."""

from offhook.kit.database.database import Database
from offhook.orgs import Caller
from offhook.orgs.idempotency import answer_idempotent
from offhook.telephony.calls.outbound import CallOrder, OutboundCalls
from offhook.telephony.calls.schemas import (
    InitiateCallRequest,
    InitiateCallResponse,
    PublicTriggerRequest,
    PublicTriggerResponse,
)
from offhook.workflows import service as workflows
from offhook.workflows.errors import TriggerNotFound, WorkflowNotPublished


class CallRequests:
    """Places calls requested over the API. Raises what :meth:`OutboundCalls.place_call` raises."""

    def __init__(self, db: Database, calls: OutboundCalls) -> None:
        self._db = db
        self._calls = calls

    async def place_test_call(
        self, caller: Caller, request: InitiateCallRequest, idempotency_key: str | None
    ) -> InitiateCallResponse:
        """Places a test call, with the agent's draft if there is one."""
        order = CallOrder(
            organization_id=caller.organization_id,
            workflow_id=request.workflow_id,
            to_number=request.phone_number,
            use_draft=True,
            run_id=request.workflow_run_id,
            configuration_id=request.telephony_configuration_id,
            from_phone_number_id=request.from_phone_number_id,
            context=request.initial_context,
            user_id=caller.user_id,
            api_key_id=caller.key_id,
            impersonator_id=caller.impersonator_id,
        )

        async def place_call() -> InitiateCallResponse:
            placed = await self._calls.place_call(order)
            message = f"Call initiated successfully with run name {placed.run_name}"
            if placed.call_id is None:
                message = f"The carrier did not confirm the call, but the phone may ring. Check run {placed.run_name}."
            return InitiateCallResponse(
                message=message,
                workflow_run_id=placed.run_id,
                workflow_run_name=placed.run_name,
                status=placed.status,
                call_id=placed.call_id,
            )

        return await answer_idempotent(
            self._db,
            InitiateCallResponse,
            organization_id=caller.organization_id,
            scope="initiate-call",
            key=idempotency_key,
            body=request,
            action=place_call,
        )

    async def trigger_agent(
        self, caller: Caller, path: str, request: PublicTriggerRequest, idempotency_key: str | None
    ) -> PublicTriggerResponse:
        """Places a call with the published version of the agent behind a trigger. Raises TriggerNotFound (404), also
        for another organization's trigger: its existence is not disclosed."""

        async def place_call() -> PublicTriggerResponse:
            async with self._db.transaction() as session:
                owner, workflow_id = await workflows.by_trigger(session, path)
            if owner != caller.organization_id:
                raise TriggerNotFound
            order = CallOrder(
                organization_id=owner,
                workflow_id=workflow_id,
                to_number=request.phone_number,
                use_draft=False,
                configuration_id=request.telephony_configuration_id,
                from_phone_number_id=request.from_phone_number_id,
                context=request.initial_context,
                platform_context={"trigger_mode": "production", "agent_uuid": path, "api_key_id": caller.key_id},
                user_id=caller.user_id,
                api_key_id=caller.key_id,
                impersonator_id=caller.impersonator_id,
                trigger=path,
            )
            try:
                placed = await self._calls.place_call(order)
            except WorkflowNotPublished:
                raise TriggerNotFound from None
            return PublicTriggerResponse(
                status=placed.status, workflow_run_id=placed.run_id, workflow_run_name=placed.run_name
            )

        return await answer_idempotent(
            self._db,
            PublicTriggerResponse,
            organization_id=caller.organization_id,
            scope=f"public-agent:{path}",
            key=idempotency_key,
            body=request,
            action=place_call,
        )
