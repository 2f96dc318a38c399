"""The words of a workflow: what recognition expects and how the voice reads them."""

from offhook.voice.input.dictionary import MAX_TERMS, parse_dictionary
from tests.fakes.scripted import Hearing, ScriptedStt, ScriptedTts, says
from tests.voice.phone import Call, simple_agent


def test_the_voice_reads_what_is_spoken_and_everybody_else_what_is_written() -> None:
    hearing, tts = Hearing(), ScriptedTts()
    stt = ScriptedStt(hearing)
    call = Call(
        simple_agent(greeting="Welcome to OHK, this is offhook."),
        [says("OHK can do that.")],
        {"dictionary": "OHK = oh aitch kay\nOffhook = off hook, Ada Lovelace"},
        hearing=hearing,
        stts=[stt],
        ttss=[tts],
    )
    call.says("A table", at=4).hangs_up(at=9).run()

    assert "Welcome to oh aitch kay, this is off hook." in tts.spoken
    assert "oh aitch kay can do that." in tts.spoken
    assert call.agent_said == ["Welcome to OHK, this is offhook.", "OHK can do that."]
    assert stt.expectations[-1].phrases[-3:] == ("OHK", "Offhook", "Ada Lovelace")


def test_whole_words_only_and_the_longest_first() -> None:
    words = parse_dictionary("Ohk=one,Ohk Pro=two")
    assert words.apply_pronunciations("ohk, OHK PRO and Ohkx") == "one, two and Ohkx"


def test_letters_that_only_look_like_another_case_stay() -> None:
    words = parse_dictionary("bilgi = bilgee")
    assert words.apply_pronunciations("Bilgi, BİLGİ, bilgı") == "bilgee, BİLGİ, bilgı"


def test_what_cannot_be_meant_is_left_out() -> None:
    assert parse_dictionary(None).terms == ()
    assert parse_dictionary(" , =x,\n").terms == ()
    assert len(parse_dictionary(",".join(f"w{n}" for n in range(500))).terms) == MAX_TERMS
    assert parse_dictionary("a+b = plus").apply_pronunciations("(a+b)") == "(plus)"
