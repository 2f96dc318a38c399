/** A look into a contact file before it is sent: its columns, its first rows, and what is plainly wrong with it. */

import { BadQuotes, type Row, rowsOf, separatorOf } from "./csv-rows";

export interface RowProblem {
  row: number;
  column: string | null;
  message: string;
}

export interface ContactFileSummary {
  columns: string[];
  rows: string[][];
  rowCount: number;
  problems: RowProblem[];
  problemCount: number;
}

const SHOWN_ROWS = 8;
const SHOWN_PROBLEMS = 20;
const E164 = /^\+[1-9]\d{6,14}$/;
const PHONE = "phone_number";

/** Says what the API would say; `rows` are counted as it counts them. Blank rows are no contacts. */
export function summarizeContactFile(content: string): ContactFileSummary {
  const look = new Looking();
  const text = content.replace(/^\uFEFF/, "");
  if (text.includes("\0")) return look.refused(1, "This is not a CSV file. Save it as CSV (UTF-8).");
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
    return look.refused(1, "The file is empty. It needs a header row and contacts below it.");
  return look.rowCount === 0 ? look.refused(1, "There are no contacts below the header.") : look;
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
  private phone = -1;
  private seen = new Map<string, number>();

  refused(row: number, message: string): this {
    this.add(row, null, message);
    return this;
  }

  /** Whether rows can be understood by it. */
  readHeader({ number, cells }: Row): boolean {
    const columns = cells.map((name) => (name.trim().toLowerCase() === PHONE ? PHONE : name.trim()));
    while (columns.at(-1) === "") columns.pop();
    columns.forEach((name, index) => {
      if (name === "") this.add(number, null, `Column ${index + 1} has no name.`);
      else if (columns.indexOf(name) < index) this.add(number, name, `More than one column is named ${name}.`);
    });
    this.columns = columns;
    this.phone = columns.indexOf(PHONE);
    if (this.phone === -1) this.add(number, PHONE, `The ${PHONE} column is missing. ${foundInstead(columns)}`);
    return this.problemCount === 0;
  }

  addContact({ number: row, cells }: Row): void {
    this.rowCount += 1;
    if (this.rows.length < SHOWN_ROWS) this.rows.push(cells);
    const width = this.columns.length;
    if (cells.slice(width).some((cell) => cell.trim() !== "")) {
      this.add(row, null, `The row has ${cells.length} cells, but there are ${width} columns.`);
      return;
    }
    const number = (cells[this.phone] ?? "").trim();
    const before = this.seen.get(number);
    if (number === "") this.add(row, PHONE, "The phone number is missing.");
    else if (!E164.test(number))
      this.add(
        row,
        PHONE,
        `“${number.slice(0, 40)}” is not a valid phone number. Use the format +12015550123, with the country code and no spaces.`,
      );
    else if (before !== undefined) this.add(row, PHONE, `Duplicate of row ${before}.`);
    else this.seen.set(number, row);
  }

  private add(row: number, column: string | null, message: string): void {
    this.problemCount += 1;
    if (this.problems.length < SHOWN_PROBLEMS) this.problems.push({ row, column, message });
  }
}
