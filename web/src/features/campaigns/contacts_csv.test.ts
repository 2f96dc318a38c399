import { describe, expect, it } from "vitest";
import { lookInto, parseCsv } from "./contacts_csv";

describe("a contact file", () => {
  it("may have semicolons, quotes, line ends within them and a byte-order mark", () => {
    expect(parseCsv('\uFEFFphone_number;note\r\n+12015550101;"a; ""b""\nc"\r\n\r\n')).toEqual([
      ["phone_number", "note"],
      ["+12015550101", 'a; "b"\nc'],
    ]);
  });

  it("is shown with its columns and the number of its rows", () => {
    const look = lookInto("phone_number,name\n+12015550101,Ann\n+12015550102,Bo\n");
    expect(look).toMatchObject({ columns: ["phone_number", "name"], rowCount: 2, problems: [], problemCount: 0 });
    expect(look.rows[1]).toEqual(["+12015550102", "Bo"]);
  });

  it("is told what is wrong, row by row", () => {
    const look = lookInto("phone_number\n12015550101\n+12015550102\n+12015550102\n");
    expect(look.problems.map((problem) => [problem.row, problem.message.slice(0, 14)])).toEqual([
      [2, "“12015550101” "],
      [4, "+12015550102 s"],
    ]);
  });

  it.each([
    ["", "The file is empty."],
    ["name\nAnn\n", "There is no column phone_number."],
    ["phone_number\n", "There are no contacts below the header."],
  ])("needs contacts: %j", (content, message) => {
    expect(lookInto(content).problems[0]?.message).toBe(message);
  });
});
