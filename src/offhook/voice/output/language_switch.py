"""Lets a call follow its caller into another of the agent's languages."""

from offhook.models.ports import CallModels
from offhook.voice import events
from offhook.voice.call_context import CallContext
from offhook.voice.call_inputs import current_inputs
from offhook.voice.config import CallConfig
from offhook.voice.dialog.call_language import CallerLanguage, LanguageWords, answer_rule
from offhook.voice.dialog.conversation import Conversation
from offhook.voice.dialog.spoken_clock import prepare_clock
from offhook.voice.input.listener import CallerListener
from offhook.voice.input.spoken_signals import lexicon_for
from offhook.voice.output.speech import CallSpeaker
from offhook.voice.overlap import OverlapController

CALL_LANGUAGE = "call_language"


class LanguageSwitch:
    """Does nothing in calls of an agent with one language, and where a speech-to-speech model answers: it follows by
    itself."""

    def __init__(
        self,
        models: CallModels,
        config: CallConfig,
        *,
        line: CallContext,
        conversation: Conversation,
        speaker: CallSpeaker,
        listener: CallerListener,
        overlap: OverlapController,
    ) -> None:
        self._config = config
        self._line = line
        self._conversation = conversation
        self._speaker = speaker
        self._listener = listener
        self._overlap = overlap
        inputs = current_inputs()
        conversation.context[CALL_LANGUAGE] = models.language
        conversation.language = LanguageWords(models.language)
        languages = tuple(models.by_language) if models.realtime is None else ()
        self._caller = CallerLanguage(languages, inputs.judge_language) if len(languages) > 1 else None
        if self._caller is not None:
            inputs.prepare_language_judge()
            self._tell(self._caller.current)
        for language in languages or (models.language,):
            prepare_clock(language)

    @property
    def current(self) -> str:
        """Returns the language of the call; nothing where the agent speaks only one."""
        return self._caller.current if self._caller is not None else ""

    async def prepare_phrases(self) -> None:
        """Synthesizes the phrases of the call, in its own language first."""
        languages = self._caller.languages if self._caller is not None else ("",)
        for language in languages:
            phrases = self._config.phrases_in(language) if language else self._line.phrases
            await self._speaker.canned_in(language).prepare(phrases.canned_texts())

    def hear(self, text: str) -> None:
        """Takes a turn of the caller, and changes the language of the call when they speak another one."""
        if self._caller is None:
            return
        before = self._caller.current
        change = self._caller.hear(text, self._listener.turn_language)
        if change is not None:
            self._line.emit(
                events.LANGUAGE_CHANGED,
                {"from": before, "to": change.language, "because": change.because, "turns": change.turns},
            )
            self._follow(change.language)

    def go_on(self, language: str) -> None:
        """Goes on in the language of a call that another session began."""
        if self._caller is not None and language in self._caller.languages and language != self._caller.current:
            self._caller.change_to(language)
            self._follow(language)

    def _follow(self, language: str) -> None:
        self._speaker.use_language(language)
        self._listener.use_language(language)
        self._overlap.rules.lexicon = lexicon_for(language)
        self._line.phrases = self._config.phrases_in(language)
        self._tell(language)

    def _tell(self, language: str) -> None:
        self._conversation.context[CALL_LANGUAGE] = language
        first = self._caller.languages[0] if self._caller is not None else ""
        self._conversation.language = LanguageWords(
            language, answer_rule(language), self._config.translations_in(language), first
        )
