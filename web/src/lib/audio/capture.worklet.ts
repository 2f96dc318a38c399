/** The microphone: resampled to 16 kHz and cut into 20 ms PCM16 frames on the audio thread. */

import { Framer, WIRE_RATE, rms, toPcm16 } from "./pcm";
import { Resampler } from "./resample";

class Capture extends AudioWorkletProcessor {
  private readonly resampler = new Resampler(sampleRate, WIRE_RATE);
  private readonly framer = new Framer();

  process(inputs: Float32Array[][]): boolean {
    const channels = inputs[0] ?? [];
    const block = mono(channels);
    if (block === null) return true;
    for (const frame of this.framer.push(this.resampler.push(block))) {
      const pcm = toPcm16(frame);
      this.port.postMessage({ pcm: pcm.buffer, level: rms(frame) }, [pcm.buffer]);
    }
    return true;
  }
}

/** A copy, because the audio thread reuses the input; null while nothing is connected. */
function mono(channels: Float32Array[]): Float32Array | null {
  const first = channels[0];
  if (first === undefined) return null;
  const out = new Float32Array(first.length);
  for (const channel of channels) {
    for (let i = 0; i < out.length; i++) out[i] = (out[i] as number) + (channel[i] as number) / channels.length;
  }
  return out;
}

registerProcessor("offhook-capture", Capture);
