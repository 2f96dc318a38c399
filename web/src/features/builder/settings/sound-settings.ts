/** The settings of what a call sounds like. */

import { choices, setting, type SettingsGroup, when } from "./setting-kinds";

export const SOUND_SETTINGS: SettingsGroup[] = [
  {
    title: "Volume",
    properties: [
      setting(
        "agent_volume.enabled",
        "boolean",
        "Same volume for every voice",
        "All voices and recordings play at the same level.",
        { default: true },
      ),
      setting("agent_volume.level_db", "number", "Speech level", "In dBFS, -30 to -14.", {
        default: -20,
        min_value: -30,
        max_value: -14,
        extra: { fractional: true },
        ...when("agent_volume.enabled", true),
      }),
      setting(
        "agent_volume.recordings",
        "boolean",
        "Include recordings",
        "Otherwise, they play at their original volume.",
        {
          default: true,
          ...when("agent_volume.enabled", true),
        },
      ),
    ],
  },
  {
    title: "Caller's audio",
    properties: [
      setting(
        "caller_audio.noise_suppression",
        "options",
        "Noise suppression",
        "Changes what the agent hears. Recordings keep the original audio.",
        {
          default: "off",
          options: choices(
            ["off", "Off"],
            ["low", "Low"],
            ["moderate", "Moderate"],
            ["high", "High"],
            ["very_high", "Very high"],
          ),
        },
      ),
      setting("caller_audio.auto_gain", "boolean", "Automatic gain", "Makes quiet callers louder.", {
        default: false,
      }),
      setting("caller_audio.level_db", "number", "Caller's level", "In dBFS, -31 to -1.", {
        default: -3,
        min_value: -31,
        max_value: -1,
        ...when("caller_audio.auto_gain", true),
      }),
    ],
  },
  {
    title: "Background sound",
    properties: [
      setting("ambient_noise_configuration.enabled", "boolean", "Play background sound", "Only the caller hears it.", {
        default: false,
      }),
      setting("ambient_noise_configuration.sound", "options", "Sound", "What plays behind the agent.", {
        default: "office",
        options: choices(["office", "Office"], ["cafe", "Café"], ["street", "Street"]),
        ...when("ambient_noise_configuration.enabled", true),
      }),
      setting("ambient_noise_configuration.volume", "number", "Volume", "0 to 1.", {
        default: 0.3,
        min_value: 0,
        max_value: 1,
        extra: { fractional: true },
        ...when("ambient_noise_configuration.enabled", true),
      }),
      setting(
        "comfort_noise.enabled",
        "boolean",
        "Play comfort noise",
        "Soft line noise while the agent is silent, without a background sound.",
        { default: false },
      ),
      setting("comfort_noise.level_db", "number", "Noise level", "In dBFS, -75 to -45.", {
        default: -60,
        min_value: -75,
        max_value: -45,
        extra: { fractional: true },
        ...when("comfort_noise.enabled", true),
      }),
    ],
  },
];
