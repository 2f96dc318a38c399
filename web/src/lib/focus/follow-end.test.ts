import { expect, it } from "vitest";
import { isFollowing } from "./follow-end";

const at = (scrollTop: number) => ({ scrollTop, scrollHeight: 1000, clientHeight: 300 });

it("goes on following while its own scrolling is under way, also when more comes meanwhile", () => {
  expect(isFollowing(true, 0, at(200))).toBe(true);
  expect(isFollowing(true, 200, { ...at(400), scrollHeight: 1400 })).toBe(true);
});

it("stops when the reader scrolls up, and begins again at the end", () => {
  const up = isFollowing(true, 700, at(500));
  expect(up).toBe(false);
  expect(isFollowing(up, 500, at(600))).toBe(false);
  expect(isFollowing(up, 600, at(650))).toBe(true);
});
