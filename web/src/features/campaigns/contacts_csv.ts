/** A look into a contact file before it is sent: its columns, its first rows, and what is plainly wrong with it. */

export interface RowProblem {
  row: number;
  column: string | null;
  message: string;
}

export interface Look {
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

/** The fields of each row: commas or semicolons, quotes, quoted line ends, a byte-order mark. */
export function parseCsv(content: string): string[][] {
  const text = content.replace(/^\uFEFF/, "");
  const separator = separatorOf(text);
  const rows: string[][] = [];
  let row: string[] = [];
  let field = "";
  let isQuoted = false;
  const endField = () => {
    row.push(field);
    field = "";
  };
  const endRow = () => {
    endField();
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charAt(at);
    if (isQuoted) {
      if (letter !== '"') field += letter;
      else if (text.charAt(at + 1) === '"') field += text.charAt(++at);
      else isQuoted = false;
    } else if (letter === '"' && field === "") isQuoted = true;
    else if (letter === separator) endField();
    else if (letter === "\n") endRow();
    else if (letter !== "\r") field += letter;
  }
  if (field !== "" || row.length > 0) endRow();
  return rows;
}

function separatorOf(text: string): string {
  const head = text.slice(0, text.search(/\r?\n|$/));
  return head.split(";").length > head.split(",").length ? ";" : ",";
}

/** `rows` are counted as the API counts them: the header is row 1. */
export function lookInto(content: string): Look {
  const [header = [], ...rows] = parseCsv(content);
  const columns = header.map((name) => name.trim());
  const problems: RowProblem[] = [];
  let problemCount = 0;
  const add = (row: number, column: string | null, message: string) => {
    problemCount += 1;
    if (problems.length < SHOWN_PROBLEMS) problems.push({ row, column, message });
  };
  const phone = columns.indexOf(PHONE);
  if (columns.length === 0) add(1, null, "The file is empty.");
  else if (phone === -1) add(1, null, `There is no column ${PHONE}.`);
  else if (rows.length === 0) add(1, null, "There are no contacts below the header.");
  else checkNumbers(rows, phone, add);
  return { columns, rows: rows.slice(0, SHOWN_ROWS), rowCount: rows.length, problems, problemCount };
}

function checkNumbers(rows: readonly string[][], phone: number, add: (row: number, column: string, message: string) => void): void {
  const seen = new Map<string, number>();
  rows.forEach((fields, index) => {
    const number = (fields[phone] ?? "").trim();
    const row = index + 2;
    const before = seen.get(number);
    if (number === "") add(row, PHONE, "The number is missing.");
    else if (!E164.test(number)) add(row, PHONE, `“${number}” is not a number like +12015550123, with its country code and without spaces.`);
    else if (before !== undefined) add(row, PHONE, `${number} stands in row ${before} already.`);
    else seen.set(number, row);
  });
}
