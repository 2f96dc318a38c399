/** The text and the rows of a CSV, read as the API reads it: pure. */

export interface Decoded {
  text: string;
  /** Null: UTF-8, which is sent as it is; else what it was, and `text` is sent instead. */
  was: string | null;
}

/** Spreadsheets save UTF-8, UTF-16 or, in Europe, Windows-1252. */
export function decode(bytes: Uint8Array): Decoded {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return { text: new TextDecoder("utf-16le").decode(bytes), was: "UTF-16" };
  if (first === 0xfe && second === 0xff) return { text: new TextDecoder("utf-16be").decode(bytes), was: "UTF-16" };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), was: null };
  } catch {
    return { text: new TextDecoder("windows-1252").decode(bytes), was: "Windows-1252" };
  }
}

export interface Row {
  /** As a spreadsheet counts: the first line is 1, blank rows count. */
  number: number;
  cells: string[];
}

export class BadQuotes extends Error {
  constructor(readonly row: number) {
    super("The quotation marks in this row do not match.");
  }
}

/** Comma or semicolon, whichever makes a column `phone` of the first line, or else is there more often. */
export function separatorOf(text: string, phone: string): string {
  const head = /^\s*([^\r\n]*)/.exec(text)?.[1] ?? "";
  const makes = (separator: string) =>
    head
      .split(separator)
      .some(
        (name, _, names) =>
          name.replaceAll('"', "").trim().toLowerCase() === phone && (names.length > 1 || !head.includes(separator)),
      );
  const found = [",", ";"].find(makes);
  return found ?? (head.split(";").length > head.split(",").length ? ";" : ",");
}

/** Rows one after the other; BadQuotes where a quoted cell does not end, or goes on after its end. */
export function* rowsOf(text: string, separator: string): Generator<Row> {
  let number = 1;
  let cells: string[] = [];
  let at = 0;
  while (at < text.length) {
    const [cell, end] = text.charAt(at) === '"' ? quoted(text, at, separator, number) : plain(text, at, separator);
    cells.push(cell);
    const stop = text.charAt(end);
    at = end + 1;
    if (stop === separator) {
      if (at < text.length) continue;
      cells.push("");
    }
    if (stop === "\r" && text.charAt(at) === "\n") at += 1;
    yield { number, cells };
    number += 1;
    cells = [];
  }
}

/** A cell from `at`, and where it ends. */
function plain(text: string, at: number, separator: string): [string, number] {
  let end = at;
  while (end < text.length && !isEnd(text.charAt(end), separator)) end += 1;
  return [text.slice(at, end), end];
}

function quoted(text: string, at: number, separator: string, row: number): [string, number] {
  let cell = "";
  let from = at + 1;
  for (;;) {
    const close = text.indexOf('"', from);
    if (close === -1) throw new BadQuotes(row);
    cell += text.slice(from, close);
    if (text.charAt(close + 1) !== '"') {
      if (close + 1 < text.length && !isEnd(text.charAt(close + 1), separator)) throw new BadQuotes(row);
      return [cell, close + 1];
    }
    cell += '"';
    from = close + 2;
  }
}

function isEnd(letter: string, separator: string): boolean {
  return letter === separator || letter === "\n" || letter === "\r";
}
