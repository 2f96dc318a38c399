/** The settings of calls, in the words of docs/workflow-definition.md; names are dotted paths in `workflow_configurations`. */

import type { PropertySpec } from "../../../graph/specs";

export interface SettingsGroup {
  title: string;
  properties: PropertySpec[];
}

type More = Partial<PropertySpec>;

const setting = (
  name: string,
  type: PropertySpec["type"],
  display_name: string,
  description: string,
  more: More = {},
): PropertySpec => ({ name, type, display_name, description, required: false, ...more });
const seconds = (
  name: string,
  title: string,
  description: string,
  standard: number,
  min: number,
  max: number,
  isWhole = false,
  more: More = {},
) =>
  setting(name, "number", title, `${description} In seconds, ${min} to ${max}.`, {
    default: standard,
    min_value: min,
    max_value: max,
    extra: { fractional: !isWhole },
    ...more,
  });
const choices = (...pairs: [string, string][]) => pairs.map(([value, label]) => ({ value, label }));
const when = (name: string, ...values: unknown[]) => ({ display_options: { show: { [name]: values } } });

export const SETTINGS: SettingsGroup[] = [
  {
    title: "Length of a call",
    properties: [
      seconds("max_call_duration", "Longest call", "The caller is told 20 s before the end.", 300, 1, 1200, true),
      seconds(
        "max_user_idle_timeout",
        "Silence of the caller",
        "After this the agent asks whether they are still there; after the third time it hangs up.",
        10,
        1,
        600,
      ),
      seconds(
        "text_chat_inactivity_timeout_seconds",
        "Silence in a text chat",
        "After this a text chat is over.",
        1800,
        60,
        10_500,
        true,
      ),
    ],
  },
  {
    title: "Taking turns",
    properties: [
      setting("turn_stop_strategy", "options", "When the caller has finished", "What ends the caller's turn.", {
        default: "default",
        options: choices(
          ["default", "Recognizer, or silence"],
          ["silence", "Silence only"],
          ["turn_analyzer", "Waits longer after an unfinished sentence"],
          ["transcription", "Recognizer"],
        ),
      }),
      seconds(
        "turn_stop_silence_secs",
        "Silence that ends a turn",
        "Shorter answers faster and interrupts slow speakers more often.",
        0.7,
        0.2,
        5,
      ),
      seconds(
        "smart_turn_stop_secs",
        "Silence after an unfinished sentence",
        "How long it waits for the rest.",
        2,
        0.2,
        30,
        false,
        when("turn_stop_strategy", "turn_analyzer"),
      ),
      setting(
        "turn_start_strategy",
        "options",
        "What interrupts the agent",
        "Steps may forbid interruption altogether.",
        {
          default: "default",
          options: choices(
            ["default", "Speech"],
            ["min_words", "A number of words"],
            ["provisional_vad", "Speech pauses it, words interrupt"],
            ["never", "Nothing"],
          ),
        },
      ),
      setting("turn_start_min_words", "number", "Words that interrupt", "1 to 20.", {
        default: 3,
        min_value: 1,
        max_value: 20,
        ...when("turn_start_strategy", "min_words"),
      }),
      seconds(
        "provisional_vad_pause_secs",
        "Pause without words",
        "Then the agent goes on.",
        1.5,
        0.2,
        5,
        false,
        when("turn_start_strategy", "provisional_vad"),
      ),
      setting(
        "context_compaction_enabled",
        "boolean",
        "Summarize long conversations",
        "When a step is left, a summary replaces all but the newest messages.",
        { default: false },
      ),
    ],
  },
  {
    title: "Voicemail",
    properties: [
      setting(
        "voicemail_detection.enabled",
        "boolean",
        "Notice answering machines",
        "On outbound calls, by what they say and by their beep.",
        { default: true },
      ),
      setting("voicemail_detection.action", "options", "Then", "What the agent does with a machine.", {
        default: "hang_up",
        options: choices(["hang_up", "Hang up"], ["message", "Leave a message"], ["continue", "Talk on"]),
        ...when("voicemail_detection.enabled", true),
      }),
      setting(
        "voicemail_detection.message",
        "mention_textarea",
        "Message",
        "Said after the beep.",
        when("voicemail_detection.action", "message"),
      ),
      seconds(
        "voicemail_detection.long_speech_timeout",
        "Long first sentence",
        "Whoever talks longer than this when answering is a machine.",
        8,
        2,
        30,
        false,
        when("voicemail_detection.enabled", true),
      ),
      setting("voicemail_detection.use_workflow_llm", "boolean", "Ask the language model too", "Slower and surer.", {
        default: false,
        ...when("voicemail_detection.enabled", true),
      }),
    ],
  },
  {
    title: "Background sound",
    properties: [
      setting("ambient_noise_configuration.enabled", "boolean", "Play a background", "Only the caller hears it.", {
        default: false,
      }),
      setting("ambient_noise_configuration.sound", "options", "Sound", "What is heard behind the agent.", {
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
    ],
  },
  {
    title: "Words",
    properties: [
      setting(
        "dictionary",
        "string",
        "Dictionary",
        "Words that speech recognition should expect, one in each line; “word = how it is spoken” is read aloud that way.",
        { editor: "textarea" },
      ),
      // With what is said where nothing is set: Phrases in voice/config.py, compared by tests/web/test_layout.py.
      ...(
        [
          ["filler", "While it thinks", "Said when the answer takes long.", "One moment, please."],
          [
            "reprompt",
            "Not understood",
            "Said when nothing was understood.",
            "Sorry, I didn't catch that. Could you say it again?",
          ],
          [
            "apology",
            "When something fails",
            "Said before the call ends because of a failure.",
            "I'm sorry, I am having technical trouble. Please call again later. Goodbye.",
          ],
          ["idle", "Silent caller", "Asked when the caller says nothing.", "Are you still there?"],
          [
            "idle_goodbye",
            "Goodbye to a silent caller",
            "Said before hanging up.",
            "I can't hear you, so I will end the call now. Goodbye.",
          ],
          [
            "time_warning",
            "Almost out of time",
            "Said 20 s before the longest call ends.",
            "Just so you know, we are almost out of time.",
          ],
          ["time_over", "Out of time", "Said when the longest call ends.", "I'm sorry, our time is up. Goodbye."],
        ] as const
      ).map(([name, title, description, standard]) =>
        setting(`phrases.${name}`, "string", title, description, { placeholder: standard, editor: "textarea" }),
      ),
    ],
  },
];
