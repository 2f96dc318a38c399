import { expect, it } from "vitest";
import { nextPath } from "./next-path";

it.each([
  ["/agents/3", "/agents/3"],
  [undefined, "/"],
  ["https://elsewhere.example", "/"],
  ["//elsewhere.example", "/"],
  ["/\\elsewhere.example", "/"],
  ["/sign-in?token=x", "/"],
])("goes from %s to %s", (next, path) => expect(nextPath(next)).toBe(path));
