/** Who has the word in a text chat that is spoken by the browser: the agent says all that is new, then the caller is heard. */

import type { Ear, Mouth } from "./speech-ports";

export type SpokenState =
  | { name: "off" }
  | { name: "speaking" }
  | { name: "hearing"; partial: string }
  | { name: "answering" }
  | { name: "deaf"; reason: string };

export interface SpokenOptions {
  ear: Ear | null;
  mouth: Mouth | null;
  onState: (state: SpokenState) => void;
  /** The caller has said something. */
  onWords: (text: string) => void;
}

/** Reasons of the recognizer that trying again does not change. */
const FINAL = new Set(["not-allowed", "service-not-allowed", "audio-capture", "network", "language-not-supported"]);

export class SpokenChat {
  private state: SpokenState = { name: "off" };
  private spoken = 0;
  private said: readonly string[] = [];
  private isOver = false;
  /** Counts utterances, so that what belongs to an earlier one is not listened to. */
  private turn = 0;

  constructor(private readonly options: SpokenOptions) {}

  begin(): void {
    this.spoken = 0;
    this.said = [];
    this.isOver = false;
    this.show({ name: "answering" });
  }

  /** All that the agent has said so far; what is new is spoken. */
  update(said: readonly string[], isOver: boolean): void {
    if (this.state.name === "off") return;
    this.said = said;
    this.isOver = isOver;
    if (this.state.name !== "speaking" && this.spoken < said.length) this.speak();
    else if (isOver && this.spoken >= said.length) this.end();
  }

  /** The caller does not want to hear the rest. */
  interrupt(): void {
    if (this.state.name !== "speaking") return;
    this.turn += 1;
    this.spoken = this.said.length;
    this.options.mouth?.stop();
    this.hear();
  }

  end(): void {
    this.turn += 1;
    this.options.mouth?.stop();
    this.options.ear?.stop();
    this.show({ name: "off" });
  }

  private speak(): void {
    const text = this.said[this.spoken];
    if (text === undefined) {
      if (this.isOver) this.end();
      else this.hear();
      return;
    }
    this.options.ear?.stop();
    this.turn += 1;
    const turn = this.turn;
    this.spoken += 1;
    this.show({ name: "speaking" });
    const next = () => {
      if (turn === this.turn) this.speak();
    };
    if (this.options.mouth === null) next();
    else this.options.mouth.say(text, next);
  }

  private hear(): void {
    const { ear } = this.options;
    if (ear === null) {
      this.show({ name: "deaf", reason: "missing" });
      return;
    }
    this.turn += 1;
    const turn = this.turn;
    let hasAnswered = false;
    const isMine = () => turn === this.turn && !hasAnswered;
    this.show({ name: "hearing", partial: "" });
    ear.hear({
      onPartial: (partial) => {
        if (isMine()) this.show({ name: "hearing", partial });
      },
      onFinal: (words) => {
        if (!isMine() || words === "") return;
        hasAnswered = true;
        this.show({ name: "answering" });
        this.options.onWords(words);
      },
      onError: (reason) => {
        if (!isMine() || !FINAL.has(reason)) return;
        hasAnswered = true;
        this.show({ name: "deaf", reason });
      },
      // Recognizers stop after a silence: the caller may still be thinking.
      onEnd: () => {
        if (isMine()) this.hear();
      },
    });
  }

  private show(state: SpokenState): void {
    this.state = state;
    this.options.onState(state);
  }
}
