import { describe, expect, it } from "vitest";
import { rewriteContactFile, summarizeContactFile } from "./contacts-csv";
import { decode, rowsOf, separatorOf } from "./csv-rows";

const problems = (content: string) =>
  summarizeContactFile(content).problems.map(({ row, message }) => `${row ?? "File:"} ${message}`);

describe("a contact file", () => {
  it("may have semicolons, quotes, line ends within them and a byte-order mark", () => {
    const look = summarizeContactFile('\uFEFFphone_number;note\r\n+12015550101;"a; ""b""\r\nc"\r\n\r\n');
    expect(look).toMatchObject({
      columns: ["phone_number", "note"],
      rows: [["+12015550101", 'a; "b"\r\nc']],
      problemCount: 0,
    });
    expect([...rowsOf("a,b\rc,\r\n\nd", ",")]).toEqual([
      { number: 1, cells: ["a", "b"] },
      { number: 2, cells: ["c", ""] },
      { number: 3, cells: [""] },
      { number: 4, cells: ["d"] },
    ]);
    expect(separatorOf("note;that, is;phone_number", "phone_number")).toBe(";");
  });

  it("is shown with its columns and the number of its rows", () => {
    const look = summarizeContactFile("Phone_Number,name,\n+12015550101,Ann\n+12015550102,Bo\n,\n");
    expect(look).toMatchObject({ columns: ["phone_number", "name"], rowCount: 2, problems: [], problemCount: 0 });
    expect(look.rows[1]).toEqual(["+12015550102", "Bo"]);
  });

  it("is told what is wrong, row by row as a spreadsheet counts them", () => {
    expect(
      problems("phone_number,name\n\n12015550101,\n+12015550102,Bo\n+12015550102,Bo\n,Eve\n+12015550103,a,b\n").map(
        (said) => said.slice(0, 27),
      ),
    ).toEqual([
      "3 “12015550101” is not a va",
      "5 Duplicate of row 4.",
      "6 The phone number is missi",
      "7 The row has 3 cells, but ",
    ]);
  });

  it("is looked into whole, however long it is", () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => `+1201${5_550_000 + index},Person ${index}`);
    expect(summarizeContactFile(["phone_number,name", ...rows, "12"].join("\n"))).toMatchObject({
      rowCount: 10_001,
      problemCount: 1,
      problems: [{ row: 10_002 }],
    });
  });

  it.each([
    ["", "File: The file is empty"],
    ["\nname\nAnn\n", "File: The phone_number column is missing. Columns found: name."],
    ["phone_number\tname\n", "File: The phone_number column is missing. The columns are separated by tabs"],
    ["phone_number\n", "File: There are no contacts below the header."],
    ["phone_number,a,a\n+12015550101\n", "1 More than one column is named a."],
    ["phone_number,,a\n", "1 Column 2 has no name."],
    ['phone_number,a\n+12015550101,"b\n', "2 The quotation marks in this row do not match."],
    ['phone_number,a\n+12015550101,"b" c\n', "2 The quotation marks in this row do not match."],
    ["PK\0", "File: This is not a CSV"],
  ])("is refused: %j", (content, message) => {
    expect(problems(content)[0]).toContain(message);
  });

  it("is read with the column and without the rows that its user chose", () => {
    const content = "Line,Name\n0044 20 7946 0958,Ann\n+442079460958,Bo\n12,Cy\n";
    expect(summarizeContactFile(content).phoneChoices).toEqual(["Line", "Name"]);
    const mapped = summarizeContactFile(content, { phoneColumn: 0 });
    expect(mapped).toMatchObject({ problemCount: 2, skippableCount: 2, needsRewrite: true });
    expect(mapped.problems.map((problem) => problem.column)).toEqual(["Line", "Line"]);
    const choices = { phoneColumn: 0, skipsBadRows: true };
    expect(summarizeContactFile(content, choices)).toMatchObject({ rowCount: 1, skippedCount: 2, problemCount: 0 });
    const rewritten = rewriteContactFile(content, choices);
    expect(rewritten).toBe("phone_number,Name\n+442079460958,Ann\n");
    expect(summarizeContactFile(rewritten)).toMatchObject({ rowCount: 1, problemCount: 0, needsRewrite: false });
  });

  it("is read by the one column whose name says that it holds phone numbers, which can be another one", () => {
    const content = "Name,Phone,Mobile notes\nAnn,+12015550101,+12015550107\nBo,12,+12015550108\n";
    const guessed = summarizeContactFile(content);
    expect(guessed).toMatchObject({ phoneChoices: ["Name", "Phone", "Mobile notes"], phoneChoice: 1, problemCount: 1 });
    expect(guessed.problems).toMatchObject([{ row: 3, column: "Phone" }]);
    expect(summarizeContactFile(content, { phoneColumn: 2 })).toMatchObject({ phoneChoice: 2, problemCount: 0 });
    expect(rewriteContactFile(content, { skipsBadRows: true })).toBe(
      "Name,phone_number,Mobile notes\nAnn,+12015550101,+12015550107\n",
    );
  });

  it("keeps the numbers of its rows where others are left out", () => {
    const content = "\nphone_number,name\n12,A\n\n13,B\n+12015550101,C\n14,D\n";
    expect(rewriteContactFile(content, { skipsBadRows: true })).toBe("\nphone_number,name\n\n\n\n+12015550101,C\n");
  });

  it("gives numbers as North America writes them its country code when that is chosen", () => {
    const content = "phone_number,name\n(201) 555-0103,A\n1-201-555-0104,B\n201555010,C\n+442071838750,D\n";
    expect(summarizeContactFile(content)).toMatchObject({ problemCount: 3, nationalCount: 2 });
    const choices = { addsCountryCode: true, skipsBadRows: true };
    expect(summarizeContactFile(content, choices)).toMatchObject({
      nationalCount: 0,
      reformattedCount: 2,
      rowCount: 3,
    });
    expect(rewriteContactFile(content, choices)).toBe(
      "phone_number,name\n+12015550103,A\n+12015550104,B\n\n+442071838750,D\n",
    );
  });

  it("can call a column as the agent calls it", () => {
    const content = "phone_number,First name\n+12015550101,Ann\n";
    const choices = { columnNames: { 1: "first_name" } };
    expect(summarizeContactFile(content, choices)).toMatchObject({
      columns: ["phone_number", "first_name"],
      needsRewrite: true,
    });
    expect(rewriteContactFile(content, choices)).toBe("phone_number,first_name\n+12015550101,Ann\n");
  });

  it("says what is wrong with its columns before it asks for one", () => {
    expect(summarizeContactFile("a,a\n1,2\n")).toMatchObject({ phoneChoices: [], problemCount: 2 });
  });

  it("is not saved by skipping all of its rows, or a broken one", () => {
    expect(summarizeContactFile("phone_number\n12\n13\n").skippableCount).toBe(0);
    expect(summarizeContactFile('phone_number,a\n+12015550101,b\n12,"\n').skippableCount).toBe(0);
  });

  it("may be written as spreadsheets write", () => {
    expect(decode(new TextEncoder().encode("Zoé"))).toEqual({ text: "Zoé", was: null });
    expect(decode(Uint8Array.of(0x5a, 0x6f, 0xe9))).toEqual({ text: "Zoé", was: "Windows-1252" });
    expect(decode(Uint8Array.of(0xff, 0xfe, 0x5a, 0, 0xe9, 0)).text).toBe("Zé");
  });
});
