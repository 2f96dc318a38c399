/** A look into a contact file before it is sent: its columns, its first rows, and what is plainly wrong with it. */

import { BadQuotes, type Row, rowsOf, separatorOf } from "./csv-rows";
import { guessPhoneColumn } from "./phone-column";

export interface RowProblem {
  /** Null: of the file as a whole. */
  row: number | null;
  column: string | null;
  message: string;
}

/** How a file is read, as its user chose. */
export interface ReadingChoices {
  /** Which column holds the phone numbers, from 0, when none is called so. */
  phoneColumn?: number | undefined;
  /** Whether rows with a problem are left out. */
  skipsBadRows?: boolean | undefined;
  /** Whether numbers as North America writes them get its country code. */
  addsCountryCode?: boolean | undefined;
  /** What columns are called for the agent, by their place in the file. */
  columnNames?: Readonly<Record<number, string>> | undefined;
}

export interface ContactFileSummary {
  columns: string[];
  rows: string[][];
  /** The contacts, without those that are skipped. */
  rowCount: number;
  problems: RowProblem[];
  problemCount: number;
  /** The names of all columns, when none is called phone_number. */
  phoneChoices: string[];
  /** Which of them holds the phone numbers: the chosen one, or what looks like it; null: it has to be chosen. */
  phoneChoice: number | null;
  /** How many rows with a problem can be left out so that others remain. */
  skippableCount: number;
  skippedCount: number;
  /** How many numbers have no country code and would be complete with that of North America. */
  nationalCount: number;
  /** How many numbers are written with spaces, dashes or 00 instead of +, or got a country code. */
  reformattedCount: number;
  /** Whether {@link rewriteContactFile} has to be sent instead of the file. */
  needsRewrite: boolean;
}

export function needsPhoneColumn(look: Pick<ContactFileSummary, "phoneChoices" | "phoneChoice">): boolean {
  return look.phoneChoices.length > 0 && look.phoneChoice === null;
}

const SHOWN_ROWS = 8;
const SHOWN_PROBLEMS = 20;
const E164 = /^\+[1-9]\d{6,14}$/;
/** Ten digits, or eleven with the 1 before them: neither an area code nor an exchange begins with 0 or 1. */
const NORTH_AMERICAN = /^1?[2-9]\d{2}[2-9]\d{6}$/;
const PHONE = "phone_number";

/** Says what the API would say; `rows` are counted as it counts them. Blank rows are no contacts. */
export function summarizeContactFile(content: string, choices: ReadingChoices = {}): ContactFileSummary {
  return readContacts(content, new Looking(choices));
}

/** The file as the API takes it: commas, `phone_number`, numbers as +12015550123. A row that is left out is blank, so that the
 * others keep the numbers that they have in the file. */
export function rewriteContactFile(content: string, choices: ReadingChoices): string {
  const lines: string[] = [];
  const keep = (row: number, cells: string[]) => {
    while (lines.length < row - 1) lines.push("");
    lines.push(cells.map(quoteCell).join(","));
  };
  readContacts(content, new Looking(choices, keep));
  return [...lines, ""].join("\n");
}

function quoteCell(cell: string): string {
  return /[",\r\n]/.test(cell) || cell !== cell.trim() ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function readContacts(content: string, look: Looking): Looking {
  const text = content.replace(/^\uFEFF/, "");
  if (text.includes("\0")) return look.refused(null, "This is not a CSV file. Save it as CSV (UTF-8).");
  try {
    for (const row of rowsOf(text, separatorOf(text, PHONE))) {
      if (row.cells.every((cell) => cell.trim() === "")) continue;
      if (look.columns.length > 0) look.addContact(row);
      else if (!look.readHeader(row)) return look;
    }
  } catch (error) {
    if (!(error instanceof BadQuotes)) throw error;
    return look.refused(error.row, error.message);
  }
  if (look.columns.length === 0)
    return look.refused(null, "The file is empty. It needs a header row and contacts below it.");
  return look.rowCount + look.skippedCount === 0 ? look.refused(null, "There are no contacts below the header.") : look;
}

function ungrouped(number: string): string {
  return number.replace(/[\s().\-\u2010-\u2015]/g, "");
}

function isNational(number: string): boolean {
  return NORTH_AMERICAN.test(ungrouped(number));
}

/** A number with its country as E.164, however it is grouped; others as they are. */
function normalizeNumber(number: string, addsCountryCode: boolean): string {
  const digits = ungrouped(number).replace(/^00(?=[1-9])/, "+");
  if (addsCountryCode && isNational(number)) return digits.length === 10 ? `+1${digits}` : `+${digits}`;
  return E164.test(digits) ? digits : number;
}

function foundInstead(columns: readonly string[]): string {
  if (columns.some((name) => name.includes("\t")))
    return "The columns are separated by tabs. Save the file with commas or semicolons.";
  return `Columns found: ${columns.join(", ").slice(0, 200)}.`;
}

class Looking implements ContactFileSummary {
  columns: string[] = [];
  rows: string[][] = [];
  rowCount = 0;
  problems: RowProblem[] = [];
  problemCount = 0;
  phoneChoices: string[] = [];
  phoneChoice: number | null = null;
  skippedCount = 0;
  nationalCount = 0;
  reformattedCount = 0;
  private badRowCount = 0;
  private isBroken = false;
  private phone = -1;
  /** As it is called in the file. */
  private phoneName = PHONE;
  private seen = new Map<string, number>();

  constructor(
    private readonly choices: ReadingChoices,
    private readonly keep: (row: number, cells: string[]) => void = () => undefined,
  ) {}

  get skippableCount(): number {
    return this.isBroken || this.rowCount <= this.badRowCount ? 0 : this.badRowCount;
  }

  get needsRewrite(): boolean {
    const isRenamed = Object.keys(this.choices.columnNames ?? {}).length > 0;
    return isRenamed || this.phoneChoice !== null || this.skippedCount > 0 || this.reformattedCount > 0;
  }

  refused(row: number | null, message: string): this {
    this.isBroken = true;
    this.add(row, null, message);
    return this;
  }

  /** Whether rows can be understood by it. */
  readHeader({ number, cells }: Row): boolean {
    const names = cells.map((name) => (name.trim().toLowerCase() === PHONE ? PHONE : name.trim()));
    while (names.at(-1) === "") names.pop();
    if (!names.includes(PHONE) && names.length > 1) {
      this.phoneChoices = names;
      this.phoneChoice = this.choices.phoneColumn ?? guessPhoneColumn(names);
    }
    const columns = names.map((name, index) =>
      index === this.phoneChoice ? PHONE : (this.choices.columnNames?.[index] ?? name),
    );
    columns.forEach((name, index) => {
      if (name === "") this.add(number, null, `Column ${index + 1} has no name.`);
      else if (columns.indexOf(name) < index) this.add(number, name, `More than one column is named ${name}.`);
    });
    this.columns = columns;
    this.phone = columns.indexOf(PHONE);
    this.phoneName = names[this.phone] ?? PHONE;
    // What is wrong with its names comes first.
    if (this.phone === -1 && this.problemCount > 0) this.phoneChoices = [];
    if (this.phone === -1) this.add(null, null, `The ${PHONE} column is missing. ${foundInstead(columns)}`);
    this.isBroken = this.problemCount > 0;
    this.keep(number, columns);
    return !this.isBroken;
  }

  addContact({ number: row, cells }: Row): void {
    const written = (cells[this.phone] ?? "").trim();
    const number = normalizeNumber(written, this.choices.addsCountryCode === true);
    const problem = this.problemOf(cells, number);
    if (problem !== null) {
      if (isNational(number)) this.nationalCount += 1;
      if (this.choices.skipsBadRows === true) {
        this.skippedCount += 1;
        return;
      }
      this.badRowCount += 1;
      this.add(row, problem.column, problem.message);
    } else {
      this.seen.set(number, row);
      if (number !== written) this.reformattedCount += 1;
    }
    this.rowCount += 1;
    const contact = cells.slice(0, this.columns.length);
    if (problem === null) contact[this.phone] = number;
    if (this.rows.length < SHOWN_ROWS) this.rows.push(contact);
    this.keep(row, contact);
  }

  private problemOf(cells: string[], number: string): { column: string | null; message: string } | null {
    const width = this.columns.length;
    if (cells.slice(width).some((cell) => cell.trim() !== ""))
      return { column: null, message: `The row has ${cells.length} cells, but there are ${width} columns.` };
    if (number === "") return { column: this.phoneName, message: "The phone number is missing." };
    if (!E164.test(number)) {
      const advice = "Use the format +12015550123, with the country code.";
      return { column: this.phoneName, message: `“${number.slice(0, 40)}” is not a valid phone number. ${advice}` };
    }
    const before = this.seen.get(number);
    return before === undefined ? null : { column: this.phoneName, message: `Duplicate of row ${before}.` };
  }

  private add(row: number | null, column: string | null, message: string): void {
    this.problemCount += 1;
    if (this.problems.length < SHOWN_PROBLEMS) this.problems.push({ row, column, message });
  }
}
