import { expect, test } from "vitest";
import { pageWithin } from "./last-page";

test("a page is one that the list has, and an empty list has its first", () => {
  expect([pageWithin(2, 3), pageWithin(3, 3), pageWithin(4, 3), pageWithin(3, 0)]).toEqual([2, 3, 3, 1]);
});
