"""Measures the cost of a carrier's media format: ``python -m bench.wires [--json]``. Prints the CPU time of decoding
and encoding 50 frames in each direction, which is one call-second; the budget is 1 ms. A-law (Telnyx outside
America) is a wire of its own here."""

import argparse
import base64
import json
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from offhook.telephony.carrier_kit.dialects.plivo.wire import PlivoDialectWire
from offhook.telephony.ports import MediaWire
from offhook.telephony.providers.cloudonix.wire import CloudonixWire
from offhook.telephony.providers.telnyx.wire import TelnyxWire
from offhook.telephony.providers.twilio.wire import TwilioWire
from offhook.telephony.providers.vonage.wire import VonageWire

FRAMES: Final = 50
ROUNDS: Final = 400
BEST_OF: Final = 5
BUDGET_MS: Final = 1.0
_MULAW: Final = base64.b64encode(bytes(range(160))).decode()


def _text(**message: Any) -> str:
    return json.dumps(message, separators=(",", ":"))


def twilio_start(**more: str) -> str:
    form = {"encoding": "audio/x-mulaw", "sampleRate": "8000", "channels": "1"}
    start = {"streamSid": "MZ1", "callSid": "CA1", "tracks": ["inbound"], "mediaFormat": form, **more}
    return _text(event="start", start=start)


def twilio_frame(chunk: int) -> str:
    media = {"track": "inbound", "chunk": str(chunk), "timestamp": str(chunk * 20), "payload": _MULAW}
    return _text(event="media", sequenceNumber=str(chunk), media=media, streamSid="MZ1")


def dialect_start() -> str:
    form = {"encoding": "audio/x-mulaw", "sampleRate": 8000}
    start = {"callId": "u1", "streamId": "st1", "tracks": ["inbound"], "mediaFormat": form}
    return _text(sequenceNumber=0, event="start", start=start, extra_headers="")


def dialect_frame(chunk: int) -> str:
    media = {"track": "inbound", "timestamp": str(chunk * 20), "chunk": chunk, "payload": _MULAW}
    return _text(sequenceNumber=chunk, streamId="st1", event="media", media=media, extra_headers="")


def telnyx_start(encoding: str) -> str:
    form = {"encoding": encoding, "sample_rate": 8000, "channels": 1}
    return _text(event="start", start={"call_control_id": "v3:1", "media_format": form}, stream_id="st1")


def telnyx_frame(chunk: int) -> str:
    media = {"track": "inbound", "chunk": str(chunk), "timestamp": str(chunk * 20), "payload": _MULAW}
    return _text(event="media", sequence_number=str(chunk), media=media, stream_id="st1")


def vonage_frame(chunk: int) -> bytes:
    return bytes([chunk % 256]) * 640


VONAGE_START: Final = _text(event="websocket:connected", **{"content-type": "audio/l16;rate=16000"})
WIRES: Final[dict[str, tuple[Callable[[], MediaWire], str, Callable[[int], str | bytes]]]] = {
    "twilio": (TwilioWire, twilio_start(), twilio_frame),
    "cloudonix": (CloudonixWire, twilio_start(session="se1"), twilio_frame),
    "plivo, vobiz": (PlivoDialectWire, dialect_start(), dialect_frame),
    "telnyx PCMU": (TelnyxWire, telnyx_start("PCMU"), telnyx_frame),
    "telnyx PCMA": (TelnyxWire, telnyx_start("PCMA"), telnyx_frame),
    "vonage": (VonageWire, VONAGE_START, vonage_frame),
}


def measure(name: str) -> dict[str, Any]:
    """Returns the best of several runs: µs per frame, ms per call-second for both directions together."""
    make, start, frame = WIRES[name]
    total = FRAMES * ROUNDS
    messages = [frame(chunk) for chunk in range(1, total + 1)]
    decode_s, encode_s = [], []
    for _ in range(BEST_OF):
        wire = make()
        wire.decode(start)
        decode, encode = wire.decode, wire.encode_audio
        began = time.process_time()
        heard = sum(isinstance(decode(message), bytes) for message in messages)
        decode_s.append(time.process_time() - began)
        if heard != total:
            raise SystemExit(f"{name}: {total - heard} frames were not heard")
        payload = bytes(wire.codec.frame_bytes)
        began = time.process_time()
        for _ in range(total):
            encode(payload)
        encode_s.append(time.process_time() - began)
    both = min(decode_s) + min(encode_s)
    return {
        "wire": name,
        "decode_us": round(min(decode_s) / total * 1e6, 2),
        "encode_us": round(min(encode_s) / total * 1e6, 2),
        "cpu_ms_per_call_s": round(both / ROUNDS * 1000, 3),
    }


def rows(names: list[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        yield measure(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wire", choices=sorted(WIRES), help="one format instead of all")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    options = parser.parse_args()
    found = list(rows([options.wire] if options.wire else list(WIRES)))
    if options.json:
        print(json.dumps(found))
    else:
        for row in found:
            print("  ".join(f"{name} {value}" for name, value in row.items()))
    if any(row["cpu_ms_per_call_s"] > BUDGET_MS for row in found):
        raise SystemExit(f"over the budget of {BUDGET_MS} ms")


if __name__ == "__main__":
    main()
