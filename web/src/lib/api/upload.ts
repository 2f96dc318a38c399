/** Sending a file and telling how much of it has gone, which fetch cannot. */

import { ConnectionError, errorFrom } from "./errors";

interface Upload {
  method: "PUT" | "POST";
  address: string;
  body: File | FormData;
  headers?: Record<string, string>;
  /** 0…1. */
  onShare: (share: number) => void;
}

/** The answer's JSON, or null where it has none; throws what the server refuses with. */
export function uploadFile({ method, address, body, headers = {}, onShare }: Upload): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, address);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => event.lengthComputable && onShare(event.loaded / event.total);
    request.onerror = () => reject(new ConnectionError());
    request.onload = () => {
      const answer = parsed(request.responseText);
      if (request.status < 300) resolve(answer);
      else reject(errorFrom(request.status, answer));
    };
    request.send(body);
  });
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
