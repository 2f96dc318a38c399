"""A caller who says what the step asks for takes breaths, in each of the languages that have words for it."""

from typing import Any

import pytest

from offhook.models.ports import Expectation
from offhook.voice import events
from offhook.voice.dialog.asked_values import asked_kinds, values_in
from offhook.voice.dialog.expected_values import ValueProgress
from offhook.voice.dialog.phrases import phrase_languages
from offhook.voice.dialog.prompts import expectation_for
from offhook.voice.dialog.spoken_numbers import last_number, numbers_of, words_of_values
from offhook.workflows.graph import parse_graph
from tests.fakes.scripted import says
from tests.voice.phone import simple_agent
from tests.voice.recorded_phone import replayed
from tests.voice.test_expected_values import call_asked, decided_after, turns_of
from tests.voice.test_languages import Bilingual

UNKNOWN, PART, WHOLE = ValueProgress.UNKNOWN, ValueProgress.PART, ValueProgress.WHOLE

# The question for a telephone number, its first words, and the rest of them.
PHONES = {
    "ar-SA": ("ما هو رقم هاتفك؟", "صفر خمسة خمسة", "واحد اثنان ثلاثة أربعة خمسة ستة سبعة"),
    "de-DE": ("Wie lautet Ihre Telefonnummer?", "null eins sieben null", "zwo drei vier fünfundsechzig sieben acht"),
    "es-ES": ("¿Cuál es su número de teléfono?", "seis siete dos cinco", "ochenta y cinco tres cuatro uno"),
    "fr-FR": ("Quel est votre numéro de téléphone ?", "zéro six douze", "trente-quatre soixante-dix-huit vingt"),
    "hi-IN": ("आपका फ़ोन नंबर क्या है?", "नौ आठ सात", "डबल छह पाँच चार तीन दो एक"),
    "ja-JP": ("お電話番号は何番ですか。", "〇九〇", "一二三四の五六七八"),
    "pt-BR": ("Qual é o seu número de telefone?", "onze nove oito", "sete meia cinco quatro três dois um zero"),
    "ru-RU": (
        "Какой у вас номер телефона?",
        "восемь девятьсот шестнадцать",
        "сто двадцать три сорок пять шестьдесят семь",
    ),
    "zh-CN": ("您的电话号码是多少？", "一三八零零", "一三八零零零"),
}
YES_NO = {
    "ar-SA": ("هل هذا صحيح؟", "نعم"),
    "de-DE": ("Ist das richtig?", "ja genau"),
    "es-ES": ("¿Es correcto?", "sí"),
    "fr-FR": ("Est-ce que c'est exact ?", "oui"),
    "hi-IN": ("क्या यह सही है?", "जी हाँ"),
    "ja-JP": ("それでよろしいですか。", "はい"),
    "pt-BR": ("Está certo?", "sim"),
    "ru-RU": ("Всё верно?", "да"),
    "zh-CN": ("对吗？", "对"),
}


class TestATelephoneNumber:
    @pytest.mark.parametrize("language", PHONES)
    @pytest.mark.parametrize("has_endpointing", [True, False])
    def test_a_breath_of_1_2_seconds_does_not_end_it(self, language: str, has_endpointing: bool) -> None:
        question, first, rest = PHONES[language]
        call = call_asked(question, has_endpointing=has_endpointing, language=language)
        call.says(first, at=4).says(rest, at=4 + len(first.split()) * 0.3 + 1.2).hangs_up(at=16).run()

        assert turns_of(call) == [f"{first} {rest}"]

    def test_its_first_digits_are_answered_in_the_end(self) -> None:
        call = call_asked(PHONES["es-ES"][0], language="es-ES").says("siete dos cinco", at=4).hangs_up(at=14).run()

        assert 1.7 <= decided_after(call) <= 1.95

    @pytest.mark.parametrize("language", ["es-ES", "fr-FR", "hi-IN", "ja-JP", "pt-BR", "ru-RU", "zh-CN"])
    def test_a_whole_one_is_answered_at_once(self, language: str) -> None:
        question, first, rest = PHONES[language]
        call = call_asked(question, language=language).says(f"{first} {rest}", at=4).hangs_up(at=16).run()

        assert decided_after(call) < 0.6

    def test_a_prompt_in_english_asks_for_it_too(self) -> None:
        prompt = "Ask for their phone number."
        call = call_asked("Muy bien.", language="es-ES", prompt=prompt).says("siete dos", at=4)
        call.says("cinco ocho", at=5.8).hangs_up(at=14).run()

        assert turns_of(call) == ["siete dos cinco ocho"]

    def test_another_question_is_answered_at_once(self) -> None:
        call = call_asked("¿Para cuántas personas?", language="es-ES", prompt="Pida su número de teléfono.")
        call.says("cuatro", at=4).hangs_up(at=14).run()

        assert decided_after(call) < 0.6


class TestOtherValues:
    def test_a_date_of_birth_is_waited_for(self) -> None:
        call = call_asked("¿Cuál es su fecha de nacimiento?", language="es-MX").says("el cuatro de marzo de", at=4)
        call.says("mil novecientos ochenta y cinco", at=6.7).hangs_up(at=16).run()

        assert turns_of(call) == ["el cuatro de marzo de mil novecientos ochenta y cinco"]
        assert decided_after(call) < 0.6

    def test_a_card_is_longer_than_a_telephone_number(self) -> None:
        call = call_asked("Wie lautet Ihre Kartennummer?", language="de-DE")
        call.says("vier zwei vier zwei vier zwei vier zwei vier zwei vier zwei", at=4).says("4242", at=8.8)
        call.hangs_up(at=16).run()

        assert len(turns_of(call)) == 1
        assert decided_after(call) < 0.6

    def test_a_number_that_no_step_asks_for_is_waited_for_a_little(self) -> None:
        call = call_asked("Wie kann ich helfen?", language="de-DE").says("meine Kundennummer ist sieben acht", at=4)
        call.says("neun null vier", at=6.6).hangs_up(at=14).run()

        assert turns_of(call) == ["meine Kundennummer ist sieben acht neun null vier"]

    def test_italian_waits_as_before(self) -> None:
        call = call_asked("Could you tell me your phone number?", language="it-IT").says("quattro uno", at=4)
        call.hangs_up(at=14).run()

        assert decided_after(call) < 0.6


class TestYesAndNo:
    @pytest.mark.parametrize("language", YES_NO)
    def test_yes_is_answered_although_the_vendor_sees_no_end(self, language: str) -> None:
        question, answer = YES_NO[language]
        call = call_asked(question, reports_end=False, language=language).says(answer, at=4).hangs_up(at=14).run()

        assert decided_after(call) < 0.85

    @pytest.mark.parametrize(
        ("language", "question"),
        [
            ("es", "¿Qué día prefiere?"),
            ("es", "¿Me dice su nombre?"),
            ("fr", "Où habitez-vous ?"),
            ("de", "Was kann ich für Sie tun?"),
            ("de", "Können Sie mir Ihre Telefonnummer sagen?"),
            ("pt", "Qual é o seu nome?"),
            ("ru", "Как вас зовут?"),
            ("hi", "आप कब आएँगे?"),
            ("ar", "كيف أساعدك؟"),
            ("ja", "お名前を教えていただけますか。"),
            ("zh", "您想订什么时间？"),
            ("zh", "谢谢。"),
        ],
    )
    def test_what_yes_does_not_answer(self, language: str, question: str) -> None:
        values = values_in(language)
        assert values is not None
        assert not values.is_yes_no(question, ("yes_no",))


def test_the_words_follow_the_caller_into_another_language() -> None:
    call = Bilingual(says("¿Cuál es su número de teléfono?"), says("Gracias."), reports="es")
    call.says("quisiera reservar una mesa por favor", at=4).says("siete dos cinco", at=11)
    call.says("ocho cero", at=11 + 0.9 + 1.3).hangs_up(at=20).run()

    assert [said["text"] for said in call.sink.of(events.CALLER_SAID)][1:] == ["siete dos cinco ocho cero"]
    assert replayed(call.play_again()) == call.stored()


@pytest.mark.parametrize(
    ("language", "text", "digits"),
    [
        ("es", "siete dos cinco ochenta y cinco setecientos veinticinco", "72585725"),
        ("es", "doble siete dieciseis", "7716"),
        ("es", "dos mil cinco", "2005"),
        ("fr", "zéro six douze trente-quatre soixante-dix-huit quatre-vingt-dix-sept", "0612347897"),
        ("fr", "septante-deux nonante", "7290"),
        ("fr", "dix-neuf cent quatre-vingt-cinq", "1985"),
        ("de", "neunzehnhundertfünfundachtzig", "1985"),
        ("de", "null eins sieben zwei fünfundzwanzig zwo", "0172252"),
        ("de", "siebenhundertfünfundzwanzig dreissig", "72530"),
        ("pt", "nove meia vinte e duas", "9622"),
        ("pt", "mil novecentos e oitenta e cinco", "1985"),
        ("ru", "восемь девятьсот шестнадцать сто двадцать три сорок пять", "891612345"),
        ("ru", "две тысячи пять", "2005"),
        ("hi", "नौ आठ सात डबल छह पांच", "987665"),
        ("hi", "उन्नीस सौ पचासी", "1985"),
        ("hi", "९८७ वन टू", "98712"),
        ("ar", "صفر خمسة خمسة وعشرون ٧", "05257"),
        ("ar", "ألف وتسعمائة وخمسة وثمانون", "1985"),
        ("zh", "幺三八〇〇二十五", "1380025"),
        ("zh", "一千九百八十五", "1985"),
        ("ja", "ゼロ九〇の１２３４", "0901234"),
        ("ja", "千九百八十五", "1985"),
    ],
)
def test_numbers_are_read(language: str, text: str, digits: str) -> None:
    numbers = numbers_of(language)
    assert numbers is not None
    assert last_number(numbers.read(text)) == digits


@pytest.mark.parametrize("language", words_of_values())
def test_every_number_up_to_99_is_read_in_all_its_forms(language: str) -> None:
    numbers = numbers_of(language)
    assert numbers is not None
    assert len(numbers.words["numbers"]) == 100
    for value, forms in enumerate(numbers.words["numbers"]):
        for form in forms.split("|"):
            assert last_number(numbers.read(form)) == str(value), form


def test_every_language_of_the_phrases_has_them() -> None:
    assert {"en", *words_of_values()} == set(phrase_languages())


@pytest.mark.parametrize(
    ("language", "kind", "text", "progress"),
    [
        ("es-MX", "phone", "55 1234 567", PART),
        ("es-MX", "phone", "55 1234 5678", WHOLE),
        ("es-MX", "phone", "55 1234 5678 y luego", PART),
        ("es-MX", "phone", "+34 612 345 678", WHOLE),
        ("es-MX", "phone", "no tengo teléfono", UNKNOWN),
        ("es", "phone", "612 345 67", PART),
        ("es", "phone", "612 345 678", UNKNOWN),  # of Spain, and perhaps the beginning of another country's
        ("es-XX", "phone", "612 345 678", UNKNOWN),
        ("es-419", "phone", "55 1234 5678", UNKNOWN),
        ("es-419", "phone", "+52 55 1234 5678", WHOLE),
        ("ar", "phone", "055 123", PART),
        ("ar", "phone", "055 123 4567", UNKNOWN),
        ("de-DE", "phone", "030 1234", UNKNOWN),  # as long as the town likes
        ("fr-FR", "phone", "06 12 34 56", PART),
        ("fr-FR", "phone", "06 12 34 56 78", WHOLE),
        ("ru-RU", "phone", "8 916 123 45 6", PART),
        ("ru-RU", "phone", "8 916 123 45 67", WHOLE),
        ("zh-CN", "phone", "138 0013 800", PART),
        ("zh-CN", "phone", "138 0013 8000", WHOLE),
        ("es", "card", "4242 4242 4242", PART),
        ("es", "card", "4242 4242 4242 4242", WHOLE),
        ("es", "digits_6", "siete dos cinco", PART),
        ("es", "digits_6", "siete dos cinco uno dos tres", WHOLE),
        ("es", "birth_date", "cuatro de marzo", PART),
        ("es", "birth_date", "cuatro de marzo de mil novecientos ochenta", UNKNOWN),
        ("es", "birth_date", "cuatro de marzo de 1985", WHOLE),
        ("es", "birth_date", "04/03/1985", WHOLE),
        ("es", "birth_date", "04/03", PART),
        ("es", "birth_date", "no se la digo", UNKNOWN),
        ("fr", "birth_date", "le premier", PART),
        ("fr", "birth_date", "le quatre août mille neuf cent quatre-vingt-cinq", WHOLE),
        ("de", "birth_date", "am vierten dritten", PART),
        ("de", "birth_date", "vierter dritter neunzehnhundertfünfundachtzig", WHOLE),
        ("pt", "birth_date", "quatro de março de mil novecentos e oitenta e cinco", WHOLE),
        ("ru", "birth_date", "четвёртого марта", PART),
        ("ru", "birth_date", "четвёртого марта тысяча девятьсот восемьдесят пятого года", WHOLE),
        ("hi", "birth_date", "चार मार्च", PART),
        ("hi", "birth_date", "चार मार्च उन्नीस सौ पचासी", WHOLE),
        ("ar", "birth_date", "الرابع من مارس", PART),
        ("ar", "birth_date", "الرابع من آذار ١٩٨٥", WHOLE),
        ("ja", "birth_date", "1985年3月", PART),
        ("ja", "birth_date", "昭和六十年三月四日", WHOLE),
        ("zh", "birth_date", "一九八五年", PART),
        ("zh", "birth_date", "一九八五年三月四号", WHOLE),
        ("es", "address", "calle mayor 5", UNKNOWN),
    ],
)
def test_how_much_is_said(language: str, kind: str, text: str, progress: ValueProgress) -> None:
    values = values_in(language)
    assert values is not None
    assert values.measure(text, (kind,)) is progress


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Pida el número de teléfono y la fecha de nacimiento.", ("phone", "birth_date")),
        ("¿Me dice el código de seis dígitos?", ("digits_6",)),
        ("¿Los últimos cuatro dígitos de su número de tarjeta?", ("digits_4",)),
        ("Pouvez-vous me donner votre date de naissance ?", ("birth_date",)),
        ("Nennen Sie mir Ihre vierstellige PIN.", ("digits_4",)),
        ("Qual é o número do seu cartão?", ("card",)),
        ("Назовите четырёхзначный код.", ("digits_4",)),
        ("कार्ड का नंबर बताइए", ("card",)),
        ("ما تاريخ ميلادك؟", ("birth_date",)),
        ("متى ولدت؟", ("birth_date",)),
        ("请说出四位验证码。", ("digits_4",)),
        ("三位吗？", ()),
        ("生年月日をお願いします。", ("birth_date",)),
        ("We are open on Sunday.", ()),
    ],
)
def test_what_is_asked_for(text: str, kinds: tuple[str, ...]) -> None:
    assert asked_kinds(text, tuple(words_of_values())) == kinds


def test_a_step_expects_what_its_prompt_asks_for() -> None:
    graph = parse_graph(simple_agent(greeting="Hola.", prompt="Pregunte el número de móvil del cliente."))
    found: Any = expectation_for(graph.nodes["start"], (), languages=("es-ES",))
    assert isinstance(found, Expectation)
    assert "phone" in found.kinds
