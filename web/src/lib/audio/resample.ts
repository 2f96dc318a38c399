/** Streaming sample-rate conversion, small enough to run inside an AudioWorklet. */

const ZERO_CROSSINGS = 8;
const PHASES = 256;

/** One half of a Blackman-windowed sinc, `PHASES` entries to a zero crossing. */
function kernel(): Float32Array {
  const table = new Float32Array(ZERO_CROSSINGS * PHASES + 2);
  for (let i = 0; i <= ZERO_CROSSINGS * PHASES; i++) {
    const x = i / PHASES;
    const window =
      0.42 + 0.5 * Math.cos((Math.PI * x) / ZERO_CROSSINGS) + 0.08 * Math.cos((2 * Math.PI * x) / ZERO_CROSSINGS);
    table[i] = (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)) * window;
  }
  return table;
}

const KERNEL = kernel();

/**
 * Converts a stream of mono samples from `inRate` to `outRate` Hz, in blocks of any size.
 *
 * The low-pass stands at 92 % of the lower Nyquist frequency, so that nothing folds back into speech. The output
 * lags the input by `ZERO_CROSSINGS` samples of the lower rate (0.5 ms at 16 kHz).
 */
export class Resampler {
  private readonly step: number;
  private readonly cutoff: number;
  private readonly reach: number;
  private history: Float32Array;
  private position: number;

  constructor(
    readonly inRate: number,
    readonly outRate: number,
  ) {
    this.step = inRate / outRate;
    this.cutoff = Math.min(1, outRate / inRate) * (inRate === outRate ? 1 : 0.92);
    this.reach = Math.ceil(ZERO_CROSSINGS / this.cutoff);
    this.history = new Float32Array(this.reach);
    this.position = this.reach;
  }

  push(block: Float32Array): Float32Array {
    if (this.inRate === this.outRate) return block;
    const input = new Float32Array(this.history.length + block.length);
    input.set(this.history);
    input.set(block, this.history.length);
    const last = input.length - this.reach - 1;
    const count = Math.max(0, Math.floor((last - this.position) / this.step) + 1);
    const output = new Float32Array(count);
    for (let i = 0; i < count; i++) output[i] = this.at(input, this.position + i * this.step);
    const next = this.position + count * this.step;
    const keepFrom = Math.max(0, Math.min(input.length, Math.floor(next) - this.reach));
    this.history = input.slice(keepFrom);
    this.position = next - keepFrom;
    return output;
  }

  private at(input: Float32Array, position: number): number {
    const first = Math.max(0, Math.ceil(position - this.reach));
    const last = Math.min(input.length - 1, Math.floor(position + this.reach));
    let sum = 0;
    for (let i = first; i <= last; i++) {
      const where = Math.abs(position - i) * this.cutoff * PHASES;
      const index = where | 0;
      if (index >= ZERO_CROSSINGS * PHASES) continue;
      const low = KERNEL[index] as number;
      const high = KERNEL[index + 1] as number;
      sum += (input[i] as number) * (low + (high - low) * (where - index));
    }
    return sum * this.cutoff;
  }
}
