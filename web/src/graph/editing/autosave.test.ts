import { beforeEach, describe, expect, it, vi } from "vitest";
import { Autosave, Conflict, type Saving } from "./autosave";

/** A server that holds one text, and can be made to fail. */
class Server {
  stored = "";
  revision = 1;
  failure: Error | null = null;
  answers: (() => void)[] = [];
  isSlow = false;

  send = async (value: string, revision: number): Promise<number> => {
    if (this.isSlow) await new Promise<void>((resolve) => this.answers.push(resolve));
    if (this.failure !== null) throw this.failure;
    if (revision !== this.revision) throw new Conflict(this.revision);
    this.stored = value;
    this.revision += 1;
    return this.revision;
  };
}

let server: Server;
let states: Saving["name"][];
let saver: Autosave<string>;

beforeEach(() => {
  vi.useFakeTimers();
  server = new Server();
  states = [];
  saver = new Autosave({ revision: 1, send: server.send, onState: (state) => states.push(state.name), delayMs: 500 });
  return () => vi.useRealTimers();
});

describe("the autosave", () => {
  it("saves once, a moment after the last change", async () => {
    saver.edit("a");
    saver.edit("ab");
    await vi.advanceTimersByTimeAsync(500);
    expect([server.stored, server.revision]).toEqual(["ab", 2]);
    expect(states).toEqual(["waiting", "waiting", "saving", "saved"]);
    expect(saver.isDirty).toBe(false);
  });

  it("saves what came while it was saving, after that", async () => {
    server.isSlow = true;
    saver.edit("a");
    const all = saver.flush();
    saver.edit("b");
    server.isSlow = false;
    server.answers.forEach((answer) => answer());
    await all;
    expect([server.stored, server.revision]).toEqual(["b", 3]);
  });

  it("tries again by itself where a failure may pass, and shows only that it is not saved until then", async () => {
    const away = new Error("away");
    saver = new Autosave({
      revision: 1,
      send: server.send,
      onState: (state) => states.push(state.name),
      delayMs: 500,
      againMs: 2_000,
      isPassing: (error) => error === away,
    });
    server.failure = away;
    saver.edit("a");
    await vi.advanceTimersByTimeAsync(5_000);
    expect(states.slice(2)).toEqual(["failed", "failed", "failed"]);
    server.failure = null;
    await vi.advanceTimersByTimeAsync(2_000);
    expect([server.stored, states.at(-1)]).toEqual(["a", "saved"]);
    server.failure = new Error("refused");
    saver.edit("b");
    await vi.advanceTimersByTimeAsync(10_000);
    expect([server.stored, states.slice(-3)]).toEqual(["a", ["waiting", "saving", "failed"]]);
  });

  it("keeps what failed and saves it with the next try", async () => {
    server.failure = new Error("away");
    saver.edit("a");
    await expect(saver.flush()).rejects.toThrow("away");
    expect([states.at(-1), saver.isDirty]).toEqual(["failed", true]);
    server.failure = null;
    await saver.flush();
    expect([server.stored, states.at(-1)]).toEqual(["a", "saved"]);
  });

  it("stops at somebody else's change, and writes over it only when told", async () => {
    server.revision = 7;
    saver.edit("mine");
    await expect(saver.flush()).rejects.toBeInstanceOf(Conflict);
    saver.edit("mine too");
    await vi.advanceTimersByTimeAsync(5_000);
    expect([server.stored, states.at(-1)]).toEqual(["", "conflict"]);
    await saver.keepMine(7);
    expect([server.stored, states.at(-1)]).toEqual(["mine too", "saved"]);
  });

  it("forgets its own when theirs is taken, and goes on from there", async () => {
    server.revision = 7;
    saver.edit("mine");
    await saver.flush().catch(() => undefined);
    saver.adopt(7);
    expect(saver.isDirty).toBe(false);
    saver.edit("next");
    await saver.flush();
    expect(server.stored).toBe("next");
  });

  it("fits on a new revision of the same content", async () => {
    server.revision = 3;
    saver.rebase(3);
    saver.edit("a");
    await saver.flush();
    expect(server.stored).toBe("a");
  });
});

describe("somebody else's change that is seen before saving", () => {
  it("holds ours back until it is decided, and then saves all of it", async () => {
    saver.edit("mine");
    server.revision = 4;
    saver.foreign(4);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([server.stored, states.at(-1), saver.isDirty]).toEqual(["", "conflict", true]);
    await saver.keepMine(4);
    expect([server.stored, saver.lastRevision, saver.isDirty]).toEqual(["mine", 5, false]);
  });

  it("is a conflict again when they go on while ours is saved", async () => {
    server.revision = 4;
    saver.edit("mine");
    await expect(saver.keepMine(3)).rejects.toMatchObject({ revision: 4 });
    expect([server.stored, states.at(-1), saver.isDirty]).toEqual(["", "conflict", true]);
  });
});
