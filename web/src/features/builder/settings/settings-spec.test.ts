import { expect, it } from "vitest";
import { isShown } from "../../../graph/specs";
import { SETTINGS } from "./settings-spec";
import { settingAt, withSetting, withValue } from "./setting-values";

it("reads and writes a setting by its path, and leaves no empty object behind", () => {
  const values = { max_call_duration: 60, voicemail_detection: { enabled: true, action: "message" } };
  expect([
    settingAt(values, "voicemail_detection.action"),
    settingAt(values, "voicemail_detection.none"),
    settingAt(values, "max_call_duration.inner"),
  ]).toEqual(["message", undefined, undefined]);
  expect(withValue(values, "phrases.filler", "Hm.")).toEqual({ ...values, phrases: { filler: "Hm." } });
  expect(withValue(values, "voicemail_detection.action", undefined)).toEqual({
    max_call_duration: 60,
    voicemail_detection: { enabled: true },
  });
  expect(withValue({ phrases: { filler: "Hm." } }, "phrases.filler", "")).toEqual({});
  expect(withValue(values, "max_call_duration", "")).toEqual({ voicemail_detection: values.voicemail_detection });
  expect(values.voicemail_detection.action).toBe("message");
});

it("gives a message to leave its words at once, and keeps those that are there", () => {
  const chosen = withSetting({}, "voicemail_detection.action", "message");
  expect(settingAt(chosen, "voicemail_detection.message")).toMatch(/^Hello/);
  const mine = { voicemail_detection: { message: "Mine." } };
  expect(withSetting(mine, "voicemail_detection.action", "message")).toEqual({
    voicemail_detection: { message: "Mine.", action: "message" },
  });
  expect(withSetting({}, "voicemail_detection.action", "hang_up")).toEqual({
    voicemail_detection: { action: "hang_up" },
  });
});

it("shows the settings of a rule only with that rule", () => {
  const group = SETTINGS.find((candidate) => candidate.title === "Turn-taking");
  const words = group?.properties.find((property) => property.name === "turn_start_min_words");
  if (group === undefined || words === undefined) throw new Error("not there");
  expect([isShown(words, group, {}), isShown(words, group, { turn_start_strategy: "min_words" })]).toEqual([
    false,
    true,
  ]);
});
