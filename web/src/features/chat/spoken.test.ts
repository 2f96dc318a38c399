import { beforeEach, describe, expect, it } from "vitest";
import type { Ear, Mouth } from "./speech-ports";
import { SpokenChat, type SpokenState } from "./spoken";

class FakeMouth implements Mouth {
  said: string[] = [];
  finish: () => void = () => undefined;
  say = (text: string, onEnd: () => void) => {
    this.said.push(text);
    this.finish = onEnd;
  };
  stop = () => this.finish();
}

class FakeEar implements Ear {
  handlers: Parameters<Ear["hear"]>[0] | null = null;
  times = 0;
  hear: Ear["hear"] = (handlers) => {
    this.handlers = handlers;
    this.times += 1;
  };
  stop = () => undefined;
}

let mouth: FakeMouth;
let ear: FakeEar;
let state: SpokenState;
let words: string[];
let chat: SpokenChat;

beforeEach(() => {
  mouth = new FakeMouth();
  ear = new FakeEar();
  words = [];
  chat = new SpokenChat({ ear, mouth, onState: (next) => (state = next), onWords: (text) => words.push(text) });
  chat.begin();
  chat.update(["Hello.", "How can I help?"], false);
});

describe("a spoken chat", () => {
  it("says all that is new, then listens, and passes on what it heard", () => {
    expect([state.name, mouth.said]).toEqual(["speaking", ["Hello."]]);
    mouth.finish();
    mouth.finish();
    expect([state.name, mouth.said.length, ear.times]).toEqual(["hearing", 2, 1]);
    ear.handlers?.onPartial("a da");
    expect(state).toEqual({ name: "hearing", partial: "a da" });
    ear.handlers?.onFinal("a day");
    ear.handlers?.onEnd();
    expect([state.name, words, ear.times]).toEqual(["answering", ["a day"], 1]);
    chat.update(["Hello.", "How can I help?", "Which one?"], false);
    expect(mouth.said.at(-1)).toBe("Which one?");
  });

  it("lets the caller cut it off, and does not say the rest", () => {
    chat.interrupt();
    expect([state.name, mouth.said]).toEqual(["hearing", ["Hello."]]);
  });

  it("goes on listening when the recognizer gives up on a silence", () => {
    chat.interrupt();
    ear.handlers?.onError("no-speech");
    ear.handlers?.onEnd();
    expect([state.name, ear.times]).toEqual(["hearing", 2]);
  });

  it("says why it cannot hear, once and for all", () => {
    chat.interrupt();
    ear.handlers?.onError("not-allowed");
    ear.handlers?.onEnd();
    expect([state, ear.times]).toEqual([{ name: "deaf", reason: "not-allowed" }, 1]);
    chat.update(["Hello.", "How can I help?", "Still there?"], false);
    expect(mouth.said.at(-1)).toBe("Still there?");
  });

  it("is over after the last words", () => {
    chat.interrupt();
    ear.handlers?.onFinal("bye");
    chat.update(["Hello.", "How can I help?", "Goodbye."], true);
    expect(state.name).toBe("speaking");
    mouth.finish();
    expect(state.name).toBe("off");
  });
});
