/** A call's recording while it is written: a WAV file of 16-bit samples that grows, read part by part. */

import { fromPcm16 } from "./pcm";

/** What came since the last read; one array for each side of the call. */
export interface SoundPart {
  sampleRate: number;
  sides: Float32Array[];
}

export interface RangeAnswer {
  bytes: ArrayBuffer;
  /** How long the whole file is now. */
  total: number;
}

/** Answers a Range header; null where there is nothing: no recording yet, or nothing new in it. */
export type ReadRange = (range: string) => Promise<RangeAnswer | null>;

const HEADER_BYTES = 44;
/** Who begins to listen hears the last second first. */
const HEARD_BEFORE_S = 1;

export class GrowingRecording {
  #format: { sampleRate: number; sides: number } | null = null;
  #next = 0;

  constructor(private readonly readRange: ReadRange) {}

  /** Null while there is nothing new. */
  async readMore(): Promise<SoundPart | null> {
    if (this.#format === null && !(await this.#readHead())) return null;
    const { sampleRate, sides } = this.#format ?? { sampleRate: 0, sides: 1 };
    const answer = await this.readRange(`bytes=${this.#next}-`);
    const frames = Math.floor((answer?.bytes.byteLength ?? 0) / (2 * sides));
    if (answer === null || frames === 0) return null;
    this.#next += frames * 2 * sides;
    const samples = new Int16Array(answer.bytes, 0, frames * sides);
    return {
      sampleRate,
      sides: Array.from({ length: sides }, (_, side) => {
        const own = new Int16Array(frames);
        for (let frame = 0; frame < frames; frame++) own[frame] = samples[frame * sides + side] ?? 0;
        return fromPcm16(own);
      }),
    };
  }

  async #readHead(): Promise<boolean> {
    const head = await this.readRange(`bytes=0-${HEADER_BYTES - 1}`);
    if (head === null || head.bytes.byteLength < HEADER_BYTES) return false;
    const view = new DataView(head.bytes);
    const format = { sampleRate: view.getUint32(24, true), sides: view.getUint16(22, true) };
    const frameBytes = 2 * format.sides;
    const frames = Math.floor((head.total - HEADER_BYTES) / frameBytes);
    this.#format = format;
    this.#next = HEADER_BYTES + Math.max(0, frames - HEARD_BEFORE_S * format.sampleRate) * frameBytes;
    return true;
  }
}
