/** The loudness of a PCM16 WAV over time, read as it arrives, so that an hour of sound never stands in memory. */

export interface Peaks {
  seconds: number;
  /** For each channel the loudest sample of each step, 0…1. */
  channels: Float32Array[];
}

/** How much sound one value stands for. */
export const STEP_MS = 20;

const HEADER_BYTES = 44;

/** Takes the bytes of a file with the plain 44-byte header in pieces of any size; anything else has no peaks. */
export class PeakReader {
  private head = new Uint8Array(0);
  private rest = new Uint8Array(0);
  private rate = 0;
  private count = 0;
  private frames = 0;
  private loudest: number[] = [];
  private steps: number[][] = [];
  isReadable = true;

  push(chunk: Uint8Array): void {
    if (!this.isReadable) return;
    let bytes: Uint8Array = chunk;
    if (this.rate === 0) {
      this.head = joined(this.head, chunk);
      if (this.head.length < HEADER_BYTES) return;
      this.isReadable = this.readHeader(this.head);
      if (!this.isReadable) return;
      bytes = this.head.subarray(HEADER_BYTES);
    }
    this.addFrames(this.rest.length === 0 ? bytes : joined(this.rest, bytes));
  }

  finish(): Peaks | null {
    if (!this.isReadable || this.rate === 0 || this.frames === 0) return null;
    if (this.frames % this.perStep !== 0) this.endStep();
    return { seconds: this.frames / this.rate, channels: this.steps.map((values) => Float32Array.from(values)) };
  }

  private get perStep(): number {
    return (this.rate * STEP_MS) / 1000;
  }

  private readHeader(head: Uint8Array): boolean {
    const view = new DataView(head.buffer, head.byteOffset);
    const tag = (at: number) => String.fromCharCode(...head.subarray(at, at + 4));
    const isPcm16 = view.getUint16(20, true) === 1 && view.getUint16(34, true) === 16;
    if (tag(0) !== "RIFF" || tag(36) !== "data" || !isPcm16) return false;
    this.count = view.getUint16(22, true);
    this.rate = view.getUint32(24, true);
    this.loudest = Array.from({ length: this.count }, () => 0);
    this.steps = Array.from({ length: this.count }, () => []);
    return this.count > 0 && this.rate > 0;
  }

  private addFrames(bytes: Uint8Array): void {
    const block = this.count * 2;
    const whole = bytes.length - (bytes.length % block);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    for (let at = 0; at < whole; at += block) {
      for (let channel = 0; channel < this.count; channel += 1) {
        const value = Math.abs(view.getInt16(at + channel * 2, true));
        if (value > (this.loudest[channel] ?? 0)) this.loudest[channel] = value;
      }
      this.frames += 1;
      if (this.frames % this.perStep === 0) this.endStep();
    }
    this.rest = bytes.slice(whole);
  }

  private endStep(): void {
    this.loudest.forEach((value, channel) => {
      this.steps[channel]?.push(value / 32768);
      this.loudest[channel] = 0;
    });
  }
}

/** The loudest value under each of `bars` equal parts. */
export function barsOf(values: Float32Array, bars: number): number[] {
  return Array.from({ length: bars }, (_, bar) => {
    const from = Math.floor((bar * values.length) / bars);
    const until = Math.max(from + 1, Math.floor(((bar + 1) * values.length) / bars));
    let loudest = 0;
    for (let at = from; at < until; at += 1) loudest = Math.max(loudest, values[at] ?? 0);
    return loudest;
  });
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}
