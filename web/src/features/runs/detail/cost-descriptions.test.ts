import { expect, it } from "vitest";
import { describeAmount, describePrice } from "./cost-descriptions";

it("counts and prices what calls use", () => {
  expect([describeAmount(4116, "prompt_token"), describeAmount(1, "second"), describeAmount(44.664, "second")]).toEqual(
    ["4,116 prompt tokens", "1 second", "44.66 seconds"],
  );
  expect([
    describePrice(0, "second"),
    describePrice(0.00025, "prompt_token"),
    describePrice(0.0217, "second"),
    describePrice(1, "request"),
    describePrice(0.4, "text_message"),
  ]).toEqual([
    "free",
    "$2.50 per million prompt tokens",
    "$0.01 per minute",
    "$0.01 per request",
    "$4.00 per thousand text messages",
  ]);
});
