import { expect, it } from "vitest";
import { guessPhoneColumn } from "./phone-column";

it.each([
  [["Name", "Phone"], 1],
  [["PhoneNumber", "Name"], 0],
  [["name", "mobile_no."], 1],
  [["Customer phone", "Phone type"], 0],
  [["Home phone", "Mobile"], null],
  [["Name", "Note"], null],
])("finds the column of phone numbers among %j", (names, index) => {
  expect(guessPhoneColumn(names)).toBe(index);
});
