import { expect, test } from "vitest";
import { runTitle } from "./run-title";

test.each([
  [{ mode: "textchat", direction: "inbound", phone_number: null }, "Text chat 42"],
  [{ mode: "browser", direction: "inbound", phone_number: null }, "Browser call 42"],
  [{ mode: "twilio", direction: "inbound", phone_number: "+12125550106" }, "Call from +12125550106"],
  [{ mode: "vonage", direction: "outbound", phone_number: "+12125550106" }, "Call to +12125550106"],
  [{ mode: "plivo", direction: "inbound", phone_number: null }, "Inbound call 42"],
  [{ mode: "sandbox", direction: "outbound", phone_number: null }, "Outbound call 42"],
  [
    { mode: "sandbox", direction: "outbound", phone_number: "+12015550101", is_sample_call: false },
    "Call to +12015550101",
  ],
  [{ mode: "sandbox", direction: "outbound", phone_number: "+12015550101", is_sample_call: true }, "Sample call"],
  [
    { mode: "sandbox", direction: "outbound", phone_number: "+1", initial_context: { sample_call: true } },
    "Sample call",
  ],
])("names %o %s", (run, title) => {
  expect(runTitle({ id: 42, ...run })).toBe(title);
});
