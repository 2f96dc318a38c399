import { expect, it } from "vitest";
import { amountWords, priceWords } from "./cost-words";

it("counts and prices what calls use", () => {
  expect([amountWords(4116, "prompt_token"), amountWords(1, "second"), amountWords(44.664, "second")]).toEqual([
    "4,116 prompt tokens",
    "1 second",
    "44.66 seconds",
  ]);
  expect([
    priceWords(0, "second"),
    priceWords(0.00025, "prompt_token"),
    priceWords(0.0217, "second"),
    priceWords(1, "request"),
  ]).toEqual(["free", "$2.50 a million prompt tokens", "$0.01 a minute", "$0.01 a request"]);
});
