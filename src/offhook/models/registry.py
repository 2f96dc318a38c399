"""Turns choices of models into ports, which all calls share, with the offline models as the last resort."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from offhook.kit.egress import EgressClient
from offhook.models.catalog import VendorCatalog
from offhook.models.configuration.agent_languages import agent_languages, models_in
from offhook.models.configuration.resolution import ModelResolver, ResolvedModels
from offhook.models.configuration.turn_settings import TurnSettings
from offhook.models.edge_reading import ReadEdges
from offhook.models.ports import CallModels, Llm, SpeechToSpeech, Stt, Tts
from offhook.models.sentence_encoder import EmbedSentences
from offhook.models.vendors import AnyPort, AnyVendor, Kind, ModelChoice, VendorContext
from offhook.settings import Settings

# Ports hold no connection of their own; a process with more choices than this rebuilds some of them.
MAX_PORTS: Final = 500
BUILTIN: Final = "builtin"


class ModelRegistry:
    """One port for each different choice per process. Starts nothing before the first call (or :meth:`warm_up`)."""

    def __init__(
        self,
        settings: Settings,
        catalog: VendorCatalog | None = None,
        egress: EgressClient | None = None,
        embed_sentences: EmbedSentences | None = None,
        read_edges: ReadEdges | None = None,
    ) -> None:
        parts = VendorContext(settings, egress or EgressClient(), embed_sentences, read_edges)
        self.catalog = catalog or VendorCatalog.load_providers(parts)
        self.chooser = ModelResolver(self.catalog, settings)
        self._ports: OrderedDict[ModelChoice, AnyPort] = OrderedDict()

    def for_call(self, configurations: Mapping[str, Any], organization: Mapping[str, Any] | None = None) -> CallModels:
        """Returns the models of one call; raises UnknownModel (422), which names the allowed ones.

        ``configurations["models"]`` is the workflow's own choice, ``organization`` that of its organization with keys,
        both in the shape ``{llm, tts, stt, realtime, fallbacks}`` (see ``resolution.py``). A speech-to-speech model
        without a key is left out: its call is a cascade.
        """
        workflow = configurations.get("models")
        workflow, organization = workflow if isinstance(workflow, Mapping) else {}, organization or {}
        languages = agent_languages(configurations)
        turns = TurnSettings.from_configurations(configurations)
        if not languages:
            return self._build_models(self.chooser.resolve(organization, workflow, turns=turns))
        spoken = tuple(languages) if len(languages) > 1 else ()
        by_language = {
            tag: self._build_models(
                self.chooser.resolve(organization, models_in(tag, workflow, entry), spoken=spoken, turns=turns)
            )
            for tag, entry in languages.items()
        }
        return replace(next(iter(by_language.values())), by_language=by_language if spoken else {})

    def _build_models(self, chosen: ResolvedModels) -> CallModels:
        llm, tts, stt = (
            tuple(self.port_for(choice) for choice in self.with_offline(chosen.by_kind[kind], kind))
            for kind in ("llm", "tts", "stt")
        )
        spoken = chosen.realtime
        has_access = spoken is not None and (spoken.api_key or spoken.base_url)
        return CallModels(
            llm=cast(tuple[Llm, ...], llm),
            tts=cast(tuple[Tts, ...], tts),
            stt=cast(tuple[Stt, ...], stt),
            language=chosen.language,
            realtime=cast(SpeechToSpeech, self.port_for(spoken)) if spoken is not None and has_access else None,
        )

    def choose_llm(
        self,
        configurations: Mapping[str, Any],
        organization: Mapping[str, Any],
        wanted: Mapping[str, str] | None = None,
    ) -> ModelChoice:
        """Returns the first language model of an agent's calls, in the first of its languages; ``wanted`` (provider and
        model) takes its place. Raises UnknownModel (422)."""
        workflow = configurations.get("models")
        workflow = workflow if isinstance(workflow, Mapping) else {}
        for tag, entry in agent_languages(configurations).items():
            workflow = models_in(tag, workflow, entry)
            break
        if wanted is not None:
            workflow = {**workflow, "llm": dict(wanted)}
        return self.chooser.resolve(organization, workflow).by_kind["llm"][0]

    def port_for(self, choice: ModelChoice) -> AnyPort:
        """Returns the port of a choice; builds it if needed."""
        port = self._ports.get(choice)
        if port is None:
            port = self._ports[choice] = self.catalog.find_vendor(choice.kind, choice.provider).build(choice)
            while len(self._ports) > MAX_PORTS:
                self._ports.popitem(last=False)
        self._ports.move_to_end(choice)
        return port

    def installed_models(self) -> ResolvedModels:
        """Returns the models of a call that chooses none itself. Raises UnknownModel when the settings do not fit."""
        return self.chooser.resolve({}, {})

    async def warm_up(self) -> None:
        """Starts the parts that calls will need, so that the first call does not wait for them."""
        used = {
            (choice.kind, choice.provider)
            for kind, listed in self.installed_models().by_kind.items()
            for choice in self.with_offline(listed, kind)
        }
        await asyncio.gather(*(v.warm() for v in self.catalog.list_vendors() if (v.kind, v.provider) in used))

    async def close(self) -> None:
        self._ports.clear()
        for vendor in reversed(self.catalog.list_vendors()):
            await vendor.close()

    def with_offline(self, choices: Sequence[ModelChoice], kind: Kind) -> list[ModelChoice]:
        """Appends the offline choices, which need no vendor, so that a caller never hears silence."""
        listed = list(choices)
        if any(choice.provider == BUILTIN for choice in listed):
            return listed
        offline = self._offline_choice(self.catalog.find_vendor(kind, BUILTIN), listed[0])
        return listed if offline is None else [*listed, offline]

    def _offline_choice(self, vendor: AnyVendor, first: ModelChoice) -> ModelChoice | None:
        voice = ""
        # it hears everything as English, and would hide that a caller speaks something else
        if vendor.kind == "stt" and (first.languages or not first.language.lower().startswith("en")):
            return None
        if vendor.kind == "tts":
            wanted = first.language.lower()
            voices = [voice.id for voice in vendor.voices if wanted.startswith(tuple(voice.languages))]
            voice = voices[0] if voices else wanted.partition("-")[0]
        return ModelChoice(vendor.kind, vendor.provider, vendor.models[0].id, voice_id=voice, language=first.language)
