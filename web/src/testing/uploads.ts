/** Files that a page sends, and what their server answers. */

import { afterEach, vi } from "vitest";

interface Upload {
  address: string;
  body: File;
}

const NativeTransport = globalThis.XMLHttpRequest;
afterEach(() => void vi.stubGlobal("XMLHttpRequest", NativeTransport));

/** The transport of files, which reports progress as `fetch` cannot: answers each one with this status and body. */
export function stubUploads(status: number, body: unknown = null): Upload[] {
  const uploads: Upload[] = [];
  class Request {
    readonly upload: { onprogress?: (event: object) => void } = {};
    status = 0;
    responseText = "";
    onload = () => {};
    private address = "";
    open(_method: string, address: string): void {
      this.address = address;
    }
    setRequestHeader(): void {}
    send(file: File): void {
      uploads.push({ address: this.address, body: file });
      this.upload.onprogress?.({ lengthComputable: true, loaded: 1, total: 2 });
      this.status = status;
      this.responseText = JSON.stringify(body);
      queueMicrotask(() => this.onload());
    }
  }
  vi.stubGlobal("XMLHttpRequest", Request);
  return uploads;
}
