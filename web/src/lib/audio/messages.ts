/** What the page and its two worklets say to each other. */

export type ToPlayback = { type: "audio"; pcm: ArrayBuffer } | { type: "mark"; name: string } | { type: "clear" };
export type FromPlayback = { type: "mark"; name: string } | { type: "level"; level: number };
export interface FromCapture {
  pcm: ArrayBuffer;
  level: number;
}
