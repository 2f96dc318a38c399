/** What waits between the network and the loudspeaker: a ring of samples with marks that stand between them. */

interface Mark {
  name: string;
  /** Played when this many samples have been read since the beginning. */
  after: number;
}

export class JitterBuffer {
  private readonly ring: Float32Array;
  private written = 0;
  private read = 0;
  private marks: Mark[] = [];
  private isPlaying = false;
  private waited = 0;

  /**
   * @param capacity samples kept at most; when more arrives, the oldest are dropped.
   * @param lead samples in hand before playback starts, so that a late packet is not a click.
   */
  constructor(
    capacity: number,
    private readonly lead: number,
  ) {
    this.ring = new Float32Array(capacity);
  }

  get length(): number {
    return this.written - this.read;
  }

  push(samples: Float32Array): void {
    const kept = samples.length > this.ring.length ? samples.subarray(samples.length - this.ring.length) : samples;
    for (const sample of kept) this.ring[this.written++ % this.ring.length] = sample;
    this.read = Math.max(this.read, this.written - this.ring.length);
  }

  /** `name` is due when everything pushed so far was played. */
  mark(name: string): void {
    this.marks.push({ name, after: this.written });
  }

  /** Forget what was not played; its marks are never reported. */
  clear(): void {
    this.read = this.written;
    this.marks = [];
    this.isPlaying = false;
    this.waited = 0;
  }

  /** Fill `out`, with silence where nothing is in hand, and return the marks that were reached. */
  pull(out: Float32Array): string[] {
    if (!this.isPlaying) this.isPlaying = this.mayStart(out.length);
    const count = this.isPlaying ? Math.min(out.length, this.length) : 0;
    for (let i = 0; i < count; i++) out[i] = this.ring[this.read++ % this.ring.length] as number;
    out.fill(0, count);
    if (count < out.length) this.isPlaying = false;
    const due = this.marks.filter((mark) => mark.after <= this.read);
    if (due.length > 0) this.marks = this.marks.filter((mark) => mark.after > this.read);
    return due.map((mark) => mark.name);
  }

  /** A mark behind the samples means that a sentence is complete: waiting for more would only delay it. */
  private mayStart(block: number): boolean {
    if (this.length === 0) {
      this.waited = 0;
      return false;
    }
    this.waited += block;
    const isReady = this.length >= this.lead || this.marks.length > 0 || this.waited >= this.lead;
    if (isReady) this.waited = 0;
    return isReady;
  }
}
