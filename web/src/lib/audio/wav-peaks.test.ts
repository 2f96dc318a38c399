import { expect, it } from "vitest";
import { barsOf, PeakReader } from "./wav-peaks";

/** A stereo file at 1000 Hz, so that a step of 20 ms is 20 frames. */
function wav(frames: [number, number][]): Uint8Array {
  const view = new DataView(new ArrayBuffer(44 + frames.length * 4));
  const tag = (at: number, words: string) =>
    Array.from(words).forEach((letter, index) => view.setUint8(at + index, letter.charCodeAt(0)));
  tag(0, "RIFF");
  tag(36, "data");
  view.setUint16(20, 1, true);
  view.setUint16(22, 2, true);
  view.setUint32(24, 1000, true);
  view.setUint16(34, 16, true);
  frames.forEach(([left, right], index) => {
    view.setInt16(44 + index * 4, left, true);
    view.setInt16(46 + index * 4, right, true);
  });
  return new Uint8Array(view.buffer);
}

const FILE = wav(
  Array.from({ length: 50 }, (_, index): [number, number] => [index < 20 ? 16384 : 0, index >= 40 ? -8192 : 0]),
);

it.each([1, 3, 44, 61, 1000])("finds each channel's loudness in pieces of %i bytes", (size) => {
  const reader = new PeakReader();
  for (let at = 0; at < FILE.length; at += size) reader.push(FILE.subarray(at, at + size));
  const peaks = reader.finish();
  expect(peaks?.seconds).toBe(0.05);
  expect(peaks?.channels.map((values) => [...values])).toEqual([
    [0.5, 0, 0],
    [0, 0, 0.25],
  ]);
});

it("has no peaks of what is not a recording", () => {
  const reader = new PeakReader();
  reader.push(new TextEncoder().encode("x".repeat(100)));
  expect(reader.finish()).toBeNull();
});

it("draws as many bars as there is room for", () => {
  expect(barsOf(Float32Array.of(0.25, 0.75, 0.5, 0), 2)).toEqual([0.75, 0.5]);
  expect(barsOf(Float32Array.of(0.25, 0.5), 4)).toEqual([0.25, 0.25, 0.5, 0.5]);
});
