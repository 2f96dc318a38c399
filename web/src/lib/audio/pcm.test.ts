import { describe, expect, it } from "vitest";
import { Framer, fromPcm16, meter, rms, toPcm16 } from "./pcm";

describe("PCM16", () => {
  it("maps the full range and clips what is louder", () => {
    expect([...toPcm16(Float32Array.of(0, 1, -1, 1.5, -1.5))]).toEqual([0, 32767, -32768, 32767, -32768]);
  });

  it("comes back as it went", () => {
    const samples = Float32Array.of(0.25, -0.5, 0.999, -1);
    fromPcm16(toPcm16(samples)).forEach((value, i) => expect(value).toBeCloseTo(samples[i] as number, 3));
  });
});

describe("Framer", () => {
  it("cuts exact frames out of odd blocks and loses nothing", () => {
    const framer = new Framer(320);
    const input = Float32Array.from({ length: 1000 }, (_, i) => i);
    const frames = [
      ...framer.push(input.slice(0, 301)),
      ...framer.push(input.slice(301, 302)),
      ...framer.push(input.slice(302)),
    ];
    expect(frames.map((frame) => frame.length)).toEqual([320, 320, 320]);
    expect(frames.flatMap((frame) => [...frame])).toEqual([...input.slice(0, 960)]);
    expect(framer.push(new Float32Array(280))[0]?.[0]).toBe(960);
  });
});

describe("levels", () => {
  it("measures silence as nothing and full scale as everything", () => {
    expect(meter(rms(new Float32Array(320)))).toBe(0);
    expect(meter(rms(new Float32Array(320).fill(1)))).toBe(1);
    expect(meter(0.0316)).toBeCloseTo(0.5, 2);
    expect(rms(new Float32Array(0))).toBe(0);
  });
});
