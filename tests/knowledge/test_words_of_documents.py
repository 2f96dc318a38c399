"""Calls without a vendor's recognizer expect the words of their agents' documents."""

from typing import Any

import numpy as np
import pytest
from bench.ears import on_the_telephone
from httpx2 import AsyncClient

from offhook.models.ports import Expectation
from offhook.models.providers.builtin.stt import BuiltinStt
from offhook.models.providers.builtin.tts import BuiltinTts
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess
from offhook.root import Root
from offhook.runs import RunServices, service
from offhook.scenarios.sound.offline_recognizer import recognize_clip
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import takes
from tests.fakes.voice import KeptLeg
from tests.fixtures_orgs import OrgFixture
from tests.knowledge.conftest import Librarian
from tests.voice.phone import simple_agent

FOUND = "Things that were found are kept at the cloakroom for thirty days."


@pytest.fixture
def models(root: Root) -> FixedModels:
    fakes = FixedModels([takes("done")])
    use_fakes(root, fakes)
    return fakes


async def hold_call(root: Root, client: AsyncClient, org: OrgFixture, *refs: Any) -> None:
    """A call from its start until somebody hangs up, with an agent of these documents."""
    body = {"name": "Museum desk", "workflow_definition": simple_agent(document_refs=list(refs))}
    made = await client.post("/workflow/create/definition", headers=org.owner_headers, json=body)
    async with root.db.transaction() as session:
        run = await service.create_run(
            session,
            organization_id=org.id,
            workflow_id=made.json()["id"],
            mode="twilio",
            direction="inbound",
            use_draft=True,
        )
    live = root.get(RunServices).live
    call = await live.connect_leg(run.id, KeptLeg())
    call.session.end_call()
    await call.run()


def sentences(models: FixedModels) -> set[str]:
    return {sentence for expectation in models.stt.expectations for sentence in expectation.sentences}


async def test_an_offline_call_expects_them(
    root: Root, client: AsyncClient, org: OrgFixture, librarian: Librarian, models: FixedModels
) -> None:
    document, archived = await librarian.add(), await librarian.add("The tower is haunted.", "archived.txt")
    await librarian.request("DELETE", f"/{archived['id']}")
    await hold_call(root, client, org, document["id"], archived["id"])
    assert {FOUND, "Lost property"} <= sentences(models)
    assert "The tower is haunted." not in sentences(models)


async def test_a_call_with_a_vendors_recognizer_reads_no_documents_for_it(
    root: Root, client: AsyncClient, org: OrgFixture, librarian: Librarian, models: FixedModels
) -> None:
    models.stt.has_endpointing = True
    await hold_call(root, client, org, (await librarian.add())["id"])
    assert models.stt.expectations
    assert FOUND not in sentences(models)


async def test_documents_of_others_stay_theirs(
    root: Root, client: AsyncClient, org: OrgFixture, other_librarian: Librarian, models: FixedModels
) -> None:
    await hold_call(root, client, org, (await other_librarian.add())["id"])
    assert FOUND not in sentences(models)


@pytest.mark.slow
async def test_the_recognizer_hears_them() -> None:
    speech = SynthesizerProcess()
    stt = BuiltinStt(speech, silence_timeout_s=60, max_decoding_s=60)
    said = "Do you keep the umbrella in the cloakroom?"
    samples = on_the_telephone(np.asarray(await BuiltinTts(speech).synthesize(said, sample_rate=8000)), 1)
    step = ("opening hours", "a guided tour")
    heard = await recognize_clip(stt, Expectation(step, (), (FOUND,)), samples)
    heard_without = await recognize_clip(stt, Expectation(step), samples)
    await stt.close()
    await speech.close()
    assert "cloakroom" in heard
    assert "cloakroom" not in heard_without
