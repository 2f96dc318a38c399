/** Reads in a worker, one document at a time. */

import type { Imported } from "./imported";
import { readImport } from "./read-import";

/** Shorter texts are read before a worker would have started. */
const SHORT = 20_000;
const LONGEST_MS = 30_000;

export function startReading(text: string): Promise<Imported> {
  if (text.length < SHORT || typeof Worker === "undefined") return readImport(text);
  return new Promise((resolve) => {
    const worker = new Worker(new URL("./import.worker.ts", import.meta.url), { type: "module" });
    const end = (imported: Imported) => {
      clearTimeout(timer);
      worker.terminate();
      resolve(imported);
    };
    const timer = setTimeout(() => end({ problem: "Reading the document took too long." }), LONGEST_MS);
    worker.onmessage = ({ data }: MessageEvent<Imported>) => end(data);
    worker.onerror = () => end({ problem: "The document cannot be read." });
    worker.postMessage(text);
  });
}
