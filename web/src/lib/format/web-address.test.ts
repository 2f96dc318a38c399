import { expect, it } from "vitest";
import { completeAddress, shownAddress } from "./web-address";

it.each([
  ["acme.com/hours", "https://acme.com/hours"],
  [" www.acme.com:8443 ", "https://www.acme.com:8443"],
  ["https://acme.com", "https://acme.com"],
  ["HTTP://acme.com", "HTTP://acme.com"],
  ["", ""],
])("completes %j to %j", (typed, address) => expect(completeAddress(typed)).toBe(address));

it("shows an address without what all have", () => {
  expect(shownAddress("https://acme.com/")).toBe("acme.com");
  expect(shownAddress("https://acme.com/a?b=c")).toBe("acme.com/a?b=c");
});
