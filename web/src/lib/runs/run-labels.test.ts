import { expect, it } from "vitest";
import { modelName, servedBy } from "./model-names";
import { endReasonLabel, partyName, PLATFORM_TAG_LABELS, tagLabel, tagOf } from "./run-labels";

it("gives the platform's tags words and finds them again, and leaves other tags as they are", () => {
  expect(tagLabel("silent_caller")).toBe("Silent caller");
  expect(tagOf("silent caller")).toBe("silent_caller");
  expect(PLATFORM_TAG_LABELS.map(tagOf).map(tagLabel)).toEqual(PLATFORM_TAG_LABELS);
  expect([tagLabel("vip_customer"), tagOf("vip_customer")]).toEqual(["vip_customer", "vip_customer"]);
});

it("says why a run ended, also for reasons that it does not know", () => {
  expect(endReasonLabel("idle")).toBe("Caller silent");
  expect(endReasonLabel("caller_hung_up", { mode: "twilio", direction: "inbound" })).toBe("Caller hung up");
  expect(endReasonLabel("caller_hung_up", { mode: "twilio", direction: "outbound" })).toBe("Contact hung up");
  expect(endReasonLabel("caller_hung_up", { mode: "textchat", direction: "inbound" })).toBe("Ended by the user");
  expect(endReasonLabel("moon_was_full")).toBe("Moon was full");
});

it("calls who talks with the agent by how they came to it", () => {
  expect(partyName({ mode: "browser", direction: "outbound" })).toBe("caller");
  expect(partyName({ mode: "sandbox", direction: "outbound" })).toBe("contact");
  expect(partyName({ mode: "textchat", direction: "outbound" })).toBe("user");
});

it("names models as their vendors do, and those of Offhook by what they are", () => {
  expect(modelName("openai", "gpt-4.1")).toBe("OpenAI gpt-4.1");
  expect(modelName("builtin", "espeak-ng")).toBe("Offline voice (eSpeak NG)");
  expect(modelName("elsewhere", "m1")).toBe("elsewhere m1");
  expect(servedBy("tts", "builtin")).toBe("Offline voice");
  expect(servedBy("llm", "openai")).toBe("Language model by OpenAI");
});
