/** Copying for later: also on a server that is reached without encryption, where browsers withhold the clipboard. */

import { notifySuccess, notifyError } from "./notifications";

/** Says so, or why not. `what`: "The link to this page". */
export async function copyToClipboard(words: string, what: string): Promise<void> {
  if (await writeClipboard(words)) notifySuccess(`${what} copied.`);
  else notifyError(new Error(`This browser does not allow copying. ${what}: ${words}`));
}

async function writeClipboard(words: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    return copyBySelection(words);
  }
}

function copyBySelection(words: string): boolean {
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
