/** Saves changes a moment after the last one, one request at a time, and stops when another user has saved. */

export type Saving =
  | { name: "saved" }
  | { name: "waiting" }
  | { name: "saving" }
  | { name: "failed"; error: unknown }
  | { name: "conflict"; revision: number };

export interface AutosaveOptions<T> {
  revision: number;
  /** Saves and gives the new revision; throws a `Conflict` when the stored one is not the expected one. */
  send: (value: T, revision: number) => Promise<number>;
  onState: (state: Saving) => void;
  delayMs?: number;
  /** Whether a failure may pass by itself, as when the server is away: then saving is tried again after `againMs`. */
  isPassing?: (error: unknown) => boolean;
  againMs?: number;
}

export class Conflict extends Error {
  constructor(readonly revision: number) {
    super("This agent was changed by someone else or in another tab.");
  }
}

export class Autosave<T> {
  private state: Saving = { name: "saved" };
  private revision: number;
  /** What is not stored yet; `undefined` is nothing. */
  private pending: { value: T } | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private running: Promise<void> | undefined;

  constructor(private readonly options: AutosaveOptions<T>) {
    this.revision = options.revision;
  }

  get isDirty(): boolean {
    return this.pending !== undefined || this.running !== undefined;
  }

  private get hasNewer(): boolean {
    return this.pending !== undefined;
  }

  get lastRevision(): number {
    return this.revision;
  }

  /** The value as it is now. In a conflict it waits until that is decided. */
  edit(value: T): void {
    this.pending = { value };
    if (this.state.name === "conflict") return;
    this.show({ name: this.running === undefined ? "waiting" : "saving" });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.flush().catch(() => undefined), this.options.delayMs ?? 700);
  }

  /** Saves now; resolves when everything is stored, rejects with what keeps it from being stored. */
  async flush(isQuiet = false): Promise<void> {
    clearTimeout(this.timer);
    while (this.running !== undefined) await this.running;
    if (this.state.name === "conflict") throw new Conflict(this.state.revision);
    if (this.pending === undefined) return;
    this.running = this.save(this.pending.value, isQuiet);
    try {
      await this.running;
    } finally {
      this.running = undefined;
    }
    if (this.state.name === "failed") throw this.state.error;
    await this.flush();
  }

  /** Somebody else's version is taken over: nothing of ours waits any more. */
  adopt(revision: number): void {
    clearTimeout(this.timer);
    this.revision = revision;
    this.pending = undefined;
    this.show({ name: "saved" });
  }

  /** The stored version has another revision and the same content: ours still fits on it. */
  rebase(revision: number): void {
    this.revision = revision;
  }

  /** Our version goes over the stored one, which is at this revision. */
  async keepMine(revision: number): Promise<void> {
    this.revision = revision;
    this.show({ name: "waiting" });
    await this.flush();
  }

  /** Somebody else has stored this revision, as was seen without saving. */
  foreign(revision: number): void {
    clearTimeout(this.timer);
    this.show({ name: "conflict", revision });
  }

  /** `isQuiet`: what is shown stays as it is while it is tried. */
  private async save(value: T, isQuiet: boolean): Promise<void> {
    this.pending = undefined;
    if (!isQuiet) this.show({ name: "saving" });
    try {
      this.revision = await this.options.send(value, this.revision);
      this.show({ name: this.hasNewer ? "waiting" : "saved" });
    } catch (error) {
      // Changes made since are newer than what failed.
      this.pending ??= { value };
      this.show(error instanceof Conflict ? { name: "conflict", revision: error.revision } : { name: "failed", error });
      if (this.options.isPassing?.(error) === true)
        this.timer = setTimeout(() => void this.flush(true).catch(() => undefined), this.options.againMs ?? 4_000);
    }
  }

  private show(state: Saving): void {
    this.state = state;
    this.options.onState(state);
  }
}
