import { describe, expect, it } from "vitest";
import { GrowingRecording, type RangeAnswer } from "./growing-recording";

const RATE = 8000;

/** The server's file: a header and frames of two sides, of which more come. */
class Recording {
  samples: number[] = [];
  isThere = true;
  asked: string[] = [];

  grow(frames: number): void {
    for (let frame = 0; frame < frames; frame++) {
      const at = this.samples.length / 2;
      this.samples.push(at, 100 + at);
    }
  }

  answer = (range: string): Promise<RangeAnswer | null> => {
    this.asked.push(range);
    const head = new DataView(new ArrayBuffer(44));
    head.setUint16(22, 2, true);
    head.setUint32(24, RATE, true);
    const file = new Uint8Array(44 + this.samples.length * 2);
    file.set(new Uint8Array(head.buffer));
    file.set(new Uint8Array(Int16Array.from(this.samples).buffer), 44);
    const [from = 0, until = file.length - 1] = range.replace("bytes=", "").split("-").filter(Boolean).map(Number);
    if (!this.isThere || from >= file.length) return Promise.resolve(null);
    return Promise.resolve({ bytes: file.slice(from, until + 1).buffer, total: file.length });
  };
}

const numbers = (side: Float32Array | undefined) => [...(side ?? [])].map((value) => Math.round(value * 32768));

describe("a recording that grows", () => {
  it("is waited for until it is there", async () => {
    const file = new Recording();
    file.isThere = false;
    const recording = new GrowingRecording(file.answer);
    expect(await recording.readMore()).toBeNull();
    file.isThere = true;
    expect(await recording.readMore()).toBeNull();
    file.grow(3);
    const part = await recording.readMore();
    expect(part?.sampleRate).toBe(RATE);
    expect(part?.sides.map(numbers)).toEqual([
      [0, 1, 2],
      [100, 101, 102],
    ]);
  });

  it("is read from its last second on, and each sample once", async () => {
    const file = new Recording();
    file.grow(3 * RATE);
    const recording = new GrowingRecording(file.answer);
    const first = await recording.readMore();
    expect([first?.sides[0]?.length, numbers(first?.sides[0])[0]]).toEqual([RATE, 2 * RATE]);
    expect(await recording.readMore()).toBeNull();
    file.grow(2);
    expect(numbers((await recording.readMore())?.sides[0])).toEqual([3 * RATE, 3 * RATE + 1]);
    expect(file.asked.at(-1)).toBe(`bytes=${44 + 3 * RATE * 4}-`);
  });

  it("keeps half a frame for the next read", async () => {
    const file = new Recording();
    file.grow(1);
    const recording = new GrowingRecording(file.answer);
    await recording.readMore();
    file.samples.push(7);
    expect(await recording.readMore()).toBeNull();
    file.samples.push(8);
    expect((await recording.readMore())?.sides.map(numbers)).toEqual([[7], [8]]);
  });
});
