/** Copying for later: also on a server that is reached without encryption, where browsers withhold the clipboard. */

import { done, failed } from "./notifications";

/** Says so, or why not. `what`: "The link to this page". */
export async function copy(words: string, what: string): Promise<void> {
  if (await put(words)) done(`${what} is copied.`);
  else failed(new Error(`This browser does not let the page copy. ${what}: ${words}`));
}

async function put(words: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    return byHand(words);
  }
}

function byHand(words: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = words;
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  field.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else copies on a page without encryption
  const isCopied = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}
