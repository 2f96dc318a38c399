/** Reads a document in a worker, because a large one would freeze the page for seconds. */

import { readImport } from "./read-import";

self.onmessage = ({ data }: MessageEvent<string>) => {
  void readImport(data)
    .catch(() => ({ problem: "The document cannot be read." }))
    .then((imported) => self.postMessage(imported));
};
