/** Reads a document beside the page, which a large one would freeze for seconds. */

import { readImport } from "./read-import";

self.onmessage = ({ data }: MessageEvent<string>) => {
  void readImport(data)
    .catch(() => ({ problem: "The document cannot be read." }))
    .then((imported) => self.postMessage(imported));
};
