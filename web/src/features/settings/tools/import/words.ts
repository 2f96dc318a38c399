/** The words of a shell command, as a POSIX shell splits them. Nothing is expanded or run. */

import { Unreadable } from "./imported";

const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r" };

export function shellWords(command: string): string[] {
  const text = command.replace(/[\\^`]\r?\n/g, " ");
  const words: string[] = [];
  let word: string | null = null;
  let at = 0;
  while (at < text.length) {
    const letter = text[at] ?? "";
    if (/\s/.test(letter)) {
      if (word !== null) words.push(word);
      word = null;
      at += 1;
    } else if (letter === "'" || letter === '"' || (letter === "$" && text[at + 1] === "'")) {
      const [inner, end] = quoted(text, at);
      word = (word ?? "") + inner;
      at = end;
    } else if (letter === "\\") {
      word = (word ?? "") + (text[at + 1] ?? "");
      at += 2;
    } else if ("|;&".includes(letter)) {
      // another command or a pipe follows; an address with "&" must be quoted in every shell
      break;
    } else {
      word = (word ?? "") + letter;
      at += 1;
    }
  }
  if (word !== null) words.push(word);
  return words;
}

/** Returns the text in the quotes that begin at `from`, and the position after them. */
function quoted(text: string, from: number): [string, number] {
  const isDollar = text[from] === "$";
  const quote = isDollar ? "'" : (text[from] ?? "");
  const hasEscapes = isDollar || quote === '"';
  const parts: string[] = [];
  let at = from + (isDollar ? 2 : 1);
  while (at < text.length) {
    const letter = text[at] ?? "";
    if (letter === quote) return [parts.join(""), at + 1];
    if (letter === "\\" && hasEscapes) {
      const [part, end] = escaped(text, at, isDollar);
      parts.push(part);
      at = end;
    } else {
      parts.push(letter);
      at += 1;
    }
  }
  throw new Unreadable("The cURL command ends inside a quoted string. Copy the whole command.");
}

function escaped(text: string, at: number, isDollar: boolean): [string, number] {
  const next = text[at + 1] ?? "";
  if (!isDollar) return ['"\\$`'.includes(next) ? next : `\\${next}`, at + 2];
  const code = /^u([\da-fA-F]{4})/.exec(text.slice(at + 1, at + 6));
  if (code !== null) return [String.fromCharCode(Number.parseInt(code[1] ?? "", 16)), at + 6];
  return [ESCAPES[next] ?? next, at + 2];
}
