/** The loudspeaker: plays 16 kHz PCM16 as it comes, drops it at once on `clear`, reports marks when really played. */

import { JitterBuffer } from "./jitter-buffer";
import { WIRE_RATE, fromPcm16, rms } from "./pcm";
import { Resampler } from "./resample";
import type { ToPlayback } from "./messages";

const LEAD_S = 0.06;
const CAPACITY_S = 30;
const LEVEL_EVERY_S = 0.02;

class Playback extends AudioWorkletProcessor {
  private resampler = new Resampler(WIRE_RATE, sampleRate);
  private readonly buffer = new JitterBuffer(CAPACITY_S * sampleRate, Math.round(LEAD_S * sampleRate));
  private peak = 0;
  private sinceLevel = 0;

  constructor() {
    super();
    this.port.onmessage = (message: MessageEvent<ToPlayback>) => this.take(message.data);
  }

  process(_inputs: Float32Array[][], outputs: Float32Array[][]): boolean {
    const channels = outputs[0] ?? [];
    const first = channels[0];
    if (first === undefined) return true;
    for (const name of this.buffer.pull(first)) this.port.postMessage({ type: "mark", name });
    for (const channel of channels.slice(1)) channel.set(first);
    this.report(first);
    return true;
  }

  private take(message: ToPlayback): void {
    if (message.type === "audio") {
      this.buffer.push(this.resampler.push(fromPcm16(new Int16Array(message.pcm))));
    } else if (message.type === "mark") {
      this.buffer.mark(message.name);
    } else {
      this.buffer.clear();
      this.resampler = new Resampler(WIRE_RATE, sampleRate);
    }
  }

  private report(block: Float32Array): void {
    this.peak = Math.max(this.peak, rms(block));
    this.sinceLevel += block.length;
    if (this.sinceLevel < LEVEL_EVERY_S * sampleRate) return;
    this.port.postMessage({ type: "level", level: this.peak });
    this.peak = 0;
    this.sinceLevel = 0;
  }
}

registerProcessor("offhook-playback", Playback);
