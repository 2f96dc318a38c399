/** PCM16 framing and levels. A frame is 20 ms of mono 16 kHz: 320 samples, 640 bytes. */

export const WIRE_RATE = 16_000;
export const FRAME_SAMPLES = 320;

/** Float samples (−1…1) to little-endian-ready PCM16; what is louder is clipped. */
export function toPcm16(samples: Float32Array): Int16Array<ArrayBuffer> {
  const out = new Int16Array(samples.length);
  for (let i = 0; i < samples.length; i++) {
    const value = Math.max(-1, Math.min(1, samples[i] as number));
    out[i] = Math.round(value < 0 ? value * 32768 : value * 32767);
  }
  return out;
}

/** PCM16 to float samples (−1…1). */
export function fromPcm16(samples: Int16Array): Float32Array {
  const out = new Float32Array(samples.length);
  for (let i = 0; i < samples.length; i++) out[i] = (samples[i] as number) / 32768;
  return out;
}

/** Root mean square of a block, 0…1. */
export function rms(samples: Float32Array): number {
  if (samples.length === 0) return 0;
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / samples.length);
}

/** A level for the eye: 0 at −60 dBFS and below, 1 at full scale. */
export function meter(level: number): number {
  if (level <= 0.001) return 0;
  return Math.min(1, 1 + Math.log10(level) / 3);
}

/** Cuts a stream of blocks of any size into frames of exactly `size` samples. */
export class Framer {
  private rest = new Float32Array(0);

  constructor(readonly size = FRAME_SAMPLES) {}

  push(block: Float32Array): Float32Array[] {
    const all = new Float32Array(this.rest.length + block.length);
    all.set(this.rest);
    all.set(block, this.rest.length);
    const frames: Float32Array[] = [];
    let at = 0;
    for (; at + this.size <= all.length; at += this.size) frames.push(all.slice(at, at + this.size));
    this.rest = all.slice(at);
    return frames;
  }
}
