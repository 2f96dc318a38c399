import { describe, expect, it } from "vitest";
import { rms } from "./pcm";
import { Resampler } from "./resample";

function tone(hz: number, rate: number, seconds: number): Float32Array {
  return Float32Array.from(
    { length: Math.round(rate * seconds) },
    (_, i) => 0.5 * Math.sin((2 * Math.PI * hz * i) / rate),
  );
}

function inBlocks(resampler: Resampler, input: Float32Array, size: number): Float32Array {
  const out: number[] = [];
  for (let at = 0; at < input.length; at += size) out.push(...resampler.push(input.slice(at, at + size)));
  return Float32Array.from(out);
}

/** Hz by counting rising zero crossings. */
function frequency(samples: Float32Array, rate: number): number {
  let crossings = 0;
  for (let i = 1; i < samples.length; i++)
    if ((samples[i - 1] as number) < 0 && (samples[i] as number) >= 0) crossings++;
  return (crossings * rate) / samples.length;
}

describe("Resampler", () => {
  it.each([48_000, 44_100, 96_000, 22_050, 8_000])("keeps a tone's pitch and loudness from %i Hz to 16 kHz", (rate) => {
    const out = inBlocks(new Resampler(rate, 16_000), tone(440, rate, 1), 128);
    const middle = out.slice(400, -400);
    expect(frequency(middle, 16_000)).toBeCloseTo(440, -1);
    expect(rms(middle)).toBeCloseTo(0.5 / Math.SQRT2, 2);
  });

  it("gives one second of samples for one second, whatever the block size", () => {
    for (const size of [1, 128, 441, 4096]) {
      const out = inBlocks(new Resampler(44_100, 16_000), tone(440, 44_100, 1), size);
      expect(Math.abs(out.length - 16_000)).toBeLessThan(16);
    }
  });

  it("does not depend on where the blocks are cut", () => {
    const input = tone(700, 48_000, 0.1);
    const small = inBlocks(new Resampler(48_000, 16_000), input, 128);
    const large = inBlocks(new Resampler(48_000, 16_000), input, input.length);
    expect(small.length).toBe(large.length);
    small.forEach((value, i) => expect(value).toBeCloseTo(large[i] as number, 5));
  });

  it("removes what would fold back into speech", () => {
    const out = inBlocks(new Resampler(48_000, 16_000), tone(11_000, 48_000, 0.5), 128);
    expect(rms(out.slice(200))).toBeLessThan(0.005);
  });

  it("plays 16 kHz at a device's 48 kHz without a mirror image", () => {
    const out = inBlocks(new Resampler(16_000, 48_000), tone(1_000, 16_000, 0.5), 320);
    expect(frequency(out.slice(1000, -1000), 48_000)).toBeCloseTo(1_000, -1);
    expect(rms(out.slice(1000, -1000))).toBeCloseTo(0.5 / Math.SQRT2, 2);
  });

  it("passes equal rates through untouched", () => {
    const input = tone(440, 16_000, 0.02);
    expect(new Resampler(16_000, 16_000).push(input)).toBe(input);
  });
});
