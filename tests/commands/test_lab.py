"""``offhook lab vendors``: a developer without an account."""

import asyncio
import re
import time
from collections.abc import Iterator

import pytest

from offhook.kit.egress import EgressClient
from offhook.models.catalog import VendorCatalog
from offhook.models.ports import ModelError
from offhook.models.vendors import AnyVendor, Kind, ModelChoice, VendorContext
from offhook.settings import Settings
from tests.commands.conftest import START_S, Offhook
from tests.models.speech.vendors import spoken_words
from tests.quick import first_quick


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    lab = Offhook(tmp_path_factory.mktemp("lab") / "data")
    process = lab.start("lab", "vendors", "--first-port", "0", "--tones")
    began = time.monotonic()
    while "offhook serve" not in lab.output():
        assert process.poll() is None, lab.output()
        assert time.monotonic() - began < START_S, lab.output()
        time.sleep(0.02)
    found: dict[str, str] = {}
    for kind, address in re.findall(r"^  ((?:tts|stt) \w+) .*(http://\S+)$", lab.output(), re.MULTILINE):
        found.setdefault(kind, address)
    yield found
    process.terminate()
    assert process.wait(20) == 0


def vendor(kind: Kind, name: str) -> AnyVendor:
    return VendorCatalog.load_providers(VendorContext(Settings(), EgressClient())).find_vendor(kind, name)


def choice(of: AnyVendor, url: str) -> ModelChoice:
    voice = of.voices[0].id if of.voices else ""
    return ModelChoice(of.kind, of.provider, of.models[0].id, "lab-key", url, is_own_network=True, voice_id=voice)


async def check(of: AnyVendor, choice: ModelChoice) -> None:
    await of.check(choice)


@pytest.mark.parametrize("name", ["elevenlabs", "cartesia", "deepgram", "rime", "openai"])
@pytest.mark.slow
def test_voices_speak_and_their_key_passes_the_live_check(addresses: dict[str, str], name: str) -> None:
    async def scenario() -> list[str]:
        found = vendor("tts", name)
        await found.check(choice(found, addresses[f"tts {name}"]))
        voice = found.build(choice(found, addresses[f"tts {name}"]))
        pcm = b"".join([piece async for piece in voice.speak("hello")])  # type: ignore[union-attr]
        rate = voice.sample_rate  # type: ignore[union-attr]
        await found.close()
        return spoken_words(pcm, rate)

    # the words' pitches are known to the other process only; that it is one word is enough
    assert len(asyncio.run(scenario())) == 1


@pytest.mark.parametrize("name", first_quick(["deepgram", "assemblyai", "speechmatics", "openai"]))
def test_keys_of_recognisers_pass_the_live_check(addresses: dict[str, str], name: str) -> None:
    found = vendor("stt", name)
    asyncio.run(check(found, choice(found, addresses[f"stt {name}"])))


def test_a_wrong_key_does_not(addresses: dict[str, str]) -> None:
    found = vendor("stt", "deepgram")
    wrong = ModelChoice("stt", "deepgram", "nova-3", "wrong-key", addresses["stt deepgram"], is_own_network=True)
    with pytest.raises(ModelError, match="401"):
        asyncio.run(check(found, wrong))


def test_an_organizations_address_goes_through_the_guard(addresses: dict[str, str]) -> None:
    """Loopback is refused to those who are not the operator."""

    async def scenario(found: AnyVendor, url: str) -> str:
        strangers = ModelChoice(found.kind, found.provider, found.models[0].id, "lab-key", url, voice_id="alloy")
        try:
            await found.check(strangers)
        except ModelError as error:
            return error.code
        return "was let through"

    vendors: list[tuple[Kind, str]] = [("tts", "cartesia"), ("tts", "openai"), ("stt", "speechmatics")]
    for kind, name in vendors:
        found = vendor(kind, name)
        assert asyncio.run(scenario(found, addresses[f"{kind} {name}"])) == f"{kind}_forbidden"
