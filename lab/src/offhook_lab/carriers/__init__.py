"""Emulators of the six carriers, for developing and testing without an account. They import no carrier client of ours.

In a test (real sockets on loopback; on the wall clock, or on a virtual one with ``run_virtual(…, has_sockets=True)``)::

    from offhook_lab.carriers import TelnyxEmulator, TwilioEmulator, phones
    from offhook_lab.carriers.core.chaos import CallbackFault, RestFault, SocketFault

    async with TwilioEmulator().running() as carrier:
        carrier.base_url                  # the REST base URL: every host name of the carrier leads here
        carrier.credentials               # {"account_sid": …, "auth_token": …}: fields of a telephony configuration
        carrier.add_number("+14155550100", VoiceUrl="https://…", VoiceMethod="POST")   # the carrier's own names
        carrier.limits.calls_per_second = None          # default: the carrier's own (Twilio: 1, queued)
        carrier.voice = LoudVoice(hearing).synthesize   # text -> mu-law; default: tones

        # outbound: the number decides (+1 201 555 01xx as in the sandbox, else as set here)
        carrier.phones["+12125550199"] = phones.answers("Yes, please.", then_hangs_up=True)
        #   busy() no_answer() rejects() unreachable() voicemail() hangs_up_after(s) silent() greets(…)
        #   interrupts(text) presses("12#") scripted(async function of an EmulatedPhone)
        …                                               # Offhook places a call
        call = await carrier.next_call()                # or carrier.calls[0]; call.children are its <Dial> legs

        # inbound: the plan's script is the caller's
        call = carrier.call_in("+12125550199", "+14155550100", phones.greets("Hello?", "Goodbye."))

        await carrier.wait_settled()                    # every call over, every callback answered

Results to check afterwards:
    ``call.status cause ended_by duration_s`` the outcome; ``call.phone.heard`` (mu-law) and ``.heard_speech_s`` the
    audio at the far end; ``call.phone.said``; ``call.spoken`` texts that the carrier spoke to it; ``call.played``;
    ``call.rejected`` the reason of a refusal without answer; ``call.errors`` the errors in our documents;
    ``call.stream`` the media socket: ``.received`` our control messages, ``.problems``, ``.marks``, ``.clears``,
    ``.audio_messages``, ``.close_code``, ``.failure``.
    ``carrier.requests`` / ``carrier.sent_to("POST", "/Calls.json")``: requests to REST (``.form .json .query .status``).
    ``carrier.callbacks`` / ``carrier.callbacks_of("status")``: requests to us and our responses (``.status
    .answer .fields .json .headers``). Kinds: ``answer``; ``status:<carrier's word>``, ``event:<name>``, ``amd``,
    ``stream:<event>``, ``conference:<event>``, ``cdr``, ``ring``, ``hangup``, ``machine``.

Faults (``carrier.chaos``):
    ``callbacks=[CallbackFault("late" | "twice" | "swapped" | "lost" | "forged" | "unsigned" | "altered",
    kind="status:*")]``,
    ``rest=[RestFault("rate_limited" | "server_error" | "hangs" | "acts_then_fails" | "acts_then_silent" |
    "acts_slowly", "POST */Calls.json")]``, ``sockets=[SocketFault(after_s=0.5)]`` (below 0: it never opens).
    ``chaos.holds_callbacks = True`` keeps callbacks in ``carrier.held_callbacks`` until
    ``await carrier.callback_sender.release_held(*in_any_order)``;
    ``await carrier.callback_sender.send_again(callback, body=…)`` replays one as it was signed.
    ``carrier.callback_sender.tunnels.append(ProxyTunnel("https://voice.example.org", "http://127.0.0.1:8700"))`` adds a
    reverse proxy: the public URL is signed, and the request arrives with X-Forwarded-*.
    ``call.phone.hang_up()``, ``call.stream.drop_connection()``, ``await call.phone.say_text(…)``, ``.press_keys("1")``,
    ``.wait_for_speech_end()`` work from the test itself too; a phone whose call is over raises
    ``phones.PhoneDisconnected``.
"""

from offhook_lab.carriers.cloudonix import CloudonixEmulator
from offhook_lab.carriers.core import phones
from offhook_lab.carriers.core.callbacks import OutgoingCallback, ProxyTunnel
from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.chaos import CallbackFault, ChaosSwitches, RestFault, SocketFault
from offhook_lab.carriers.core.emulator import CarrierEmulator, EmulatedNumber
from offhook_lab.carriers.plivo import PlivoEmulator
from offhook_lab.carriers.telnyx import TelnyxEmulator
from offhook_lab.carriers.twilio import TwilioEmulator
from offhook_lab.carriers.vobiz import VobizEmulator
from offhook_lab.carriers.vonage import VonageEmulator

__all__ = [
    "CallbackFault",
    "CarrierEmulator",
    "ChaosSwitches",
    "CloudonixEmulator",
    "EmulatedCall",
    "EmulatedNumber",
    "OutgoingCallback",
    "PlivoEmulator",
    "ProxyTunnel",
    "RestFault",
    "SocketFault",
    "TelnyxEmulator",
    "TwilioEmulator",
    "VobizEmulator",
    "VonageEmulator",
    "phones",
]
