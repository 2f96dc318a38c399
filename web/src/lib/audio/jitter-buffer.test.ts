import { describe, expect, it } from "vitest";
import { JitterBuffer } from "./jitter-buffer";

const ramp = (from: number, count: number) => Float32Array.from({ length: count }, (_, i) => from + i);

function pull(buffer: JitterBuffer, count: number): { samples: number[]; marks: string[] } {
  const out = new Float32Array(count);
  const marks = buffer.pull(out);
  return { samples: [...out], marks };
}

describe("JitterBuffer", () => {
  it("waits for its lead and then plays in order, across the end of the ring", () => {
    const buffer = new JitterBuffer(10, 4);
    buffer.push(ramp(1, 3));
    expect(pull(buffer, 2).samples).toEqual([0, 0]);
    buffer.push(ramp(4, 3));
    expect(pull(buffer, 4).samples).toEqual([1, 2, 3, 4]);
    buffer.push(ramp(7, 7));
    expect(pull(buffer, 9).samples).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13]);
  });

  it("fills with silence when the network is late, and collects its lead again", () => {
    const buffer = new JitterBuffer(100, 4);
    buffer.push(ramp(1, 5));
    expect(pull(buffer, 8).samples).toEqual([1, 2, 3, 4, 5, 0, 0, 0]);
    buffer.push(ramp(6, 2));
    expect(pull(buffer, 2).samples).toEqual([0, 0]);
    buffer.push(ramp(8, 2));
    expect(pull(buffer, 4).samples).toEqual([6, 7, 8, 9]);
  });

  it("does not keep the last few samples of a sentence waiting for ever", () => {
    const buffer = new JitterBuffer(100, 4);
    buffer.push(ramp(1, 2));
    expect(pull(buffer, 2).samples).toEqual([0, 0]);
    expect(pull(buffer, 2).samples).toEqual([1, 2]);
  });

  it("reports a mark when what stands before it was played, not earlier", () => {
    const buffer = new JitterBuffer(100, 2);
    buffer.push(ramp(1, 4));
    buffer.mark("s1");
    buffer.push(ramp(5, 2));
    buffer.mark("s2");
    expect(pull(buffer, 3).marks).toEqual([]);
    expect(pull(buffer, 1).marks).toEqual(["s1"]);
    expect(pull(buffer, 4).marks).toEqual(["s2"]);
    expect(pull(buffer, 4).marks).toEqual([]);
  });

  it("reports a mark with nothing before it at the next block", () => {
    const buffer = new JitterBuffer(100, 2);
    buffer.mark("s1");
    expect(pull(buffer, 1).marks).toEqual(["s1"]);
  });

  it("falls silent at once on clear and forgets the marks of what was never heard", () => {
    const buffer = new JitterBuffer(100, 2);
    buffer.push(ramp(1, 50));
    buffer.mark("s1");
    pull(buffer, 3);
    buffer.clear();
    expect(buffer.length).toBe(0);
    expect(pull(buffer, 3)).toEqual({ samples: [0, 0, 0], marks: [] });
    buffer.push(ramp(7, 2));
    expect(pull(buffer, 2).samples).toEqual([7, 8]);
  });

  it("drops the oldest when more arrives than it can hold", () => {
    const buffer = new JitterBuffer(4, 1);
    buffer.push(ramp(1, 6));
    expect(pull(buffer, 4).samples).toEqual([3, 4, 5, 6]);
    buffer.push(ramp(1, 3));
    buffer.push(ramp(4, 3));
    expect(pull(buffer, 4).samples).toEqual([3, 4, 5, 6]);
  });
});
