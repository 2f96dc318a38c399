/** The settings of calls, in the words of docs/workflow-definition.md; names are dotted paths in `workflow_configurations`. */

import { PHRASES } from "./phrase-spec";
import { choices, seconds, setting, type SettingsGroup, when } from "./setting-kinds";
import { SOUND_SETTINGS } from "./sound-settings";

export const SETTINGS: SettingsGroup[] = [
  {
    title: "Call length",
    properties: [
      seconds(
        "max_call_duration",
        "Maximum call duration",
        "A warning is spoken 20 seconds earlier.",
        300,
        1,
        1200,
        true,
      ),
      seconds(
        "max_user_idle_timeout",
        "Caller silence",
        "After this silence, the agent asks whether the caller is still there. The third time, it hangs up.",
        10,
        1,
        600,
      ),
      seconds(
        "text_chat_inactivity_timeout_seconds",
        "Text chat timeout",
        "How long a text chat can be idle before it ends.",
        1800,
        60,
        10_500,
        true,
      ),
    ],
  },
  {
    title: "Turn-taking",
    properties: [
      setting("turn_taking", "options", "Pace", "How soon the agent yields to the caller, and how soon it answers.", {
        default: "balanced",
        options: choices(
          ["eager", "Eager: yields at once, answers soon"],
          ["balanced", "Balanced: talks through listening sounds"],
          ["patient", "Patient: yields to words, waits for slow speakers"],
        ),
      }),
      setting(
        "interruption_words",
        "string",
        "Words that always interrupt",
        "The agent never talks over these. One word or phrase per line.",
        { editor: "textarea" },
      ),
      setting("turn_stop_strategy", "options", "End of turn", "What ends the caller's turn.", {
        default: "default",
        options: choices(
          ["default", "Transcript or silence"],
          ["silence", "Silence only"],
          ["turn_analyzer", "Wait longer after an unfinished sentence"],
          ["transcription", "Transcript only"],
        ),
      }),
      seconds(
        "turn_stop_silence_secs",
        "End-of-turn silence",
        "Shorter responds faster but interrupts slow speakers more often.",
        0.7,
        0.2,
        5,
      ),
      seconds(
        "smart_turn_stop_secs",
        "Silence after an unfinished sentence",
        "How long to wait for the rest of the sentence.",
        2,
        0.2,
        30,
        false,
        when("turn_stop_strategy", "turn_analyzer"),
      ),
      setting("turn_start_strategy", "options", "Interruptions", "What interrupts the agent. Steps can turn it off.", {
        default: "default",
        options: choices(
          ["default", "Speech"],
          ["min_words", "Minimum number of words"],
          ["provisional_vad", "Speech pauses, words interrupt"],
          ["never", "Never"],
        ),
      }),
      setting("turn_start_min_words", "number", "Words needed to interrupt", "1 to 20.", {
        default: 3,
        min_value: 1,
        max_value: 20,
        ...when("turn_start_strategy", "min_words"),
      }),
      seconds(
        "provisional_vad_pause_secs",
        "Pause without words",
        "How long the agent pauses before it resumes.",
        1.5,
        0.2,
        5,
        false,
        when("turn_start_strategy", "provisional_vad"),
      ),
      setting(
        "turn_detection",
        "options",
        "Recognizer turn detection",
        "OpenAI only: what ends a turn. The second option follows the pace above.",
        {
          default: "server_vad",
          options: choices(["server_vad", "A pause"], ["semantic_vad", "A pause and the words"]),
        },
      ),
      setting(
        "early_answers",
        "boolean",
        "Prepare answers early",
        "Asks the model before it is certain that the caller has finished, up to twice per turn. Answers come sooner, but unused ones also cost money.",
        { default: false },
      ),
      setting(
        "turn_detector",
        "boolean",
        "Use the turn detector",
        "Judges by the sound of a pause whether the caller has finished, if the server has a detector. Flux, AssemblyAI, and OpenAI's semantic detection have their own.",
        { default: false },
      ),
      setting(
        "context_compaction_enabled",
        "boolean",
        "Summarize long conversations",
        "When the conversation leaves a step, a summary replaces all but the latest messages.",
        { default: false },
      ),
    ],
  },
  {
    title: "Recording and privacy",
    properties: [
      setting("call_recording.enabled", "boolean", "Record calls", "Both sides, in stereo.", { default: true }),
      setting(
        "disclosure.text",
        "mention_textarea",
        "Disclosure",
        "Spoken in full at the start of every call. Callers can’t interrupt it, and recording starts after it.",
      ),
      setting(
        "do_not_keep",
        "boolean",
        "Do not store what is said",
        "No recording, no transcript, and no extracted variables.",
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
        "Detect voicemail",
        "On outbound calls, from the greeting and the beep.",
        { default: true },
      ),
      setting("voicemail_detection.action", "options", "Action", "What to do on voicemail.", {
        default: "hang_up",
        options: choices(["hang_up", "Hang up"], ["message", "Leave a message"], ["continue", "Keep talking"]),
        ...when("voicemail_detection.enabled", true),
      }),
      setting(
        "voicemail_detection.message",
        "mention_textarea",
        "Message",
        "Spoken after the beep.",
        when("voicemail_detection.action", "message"),
      ),
      seconds(
        "voicemail_detection.long_speech_timeout",
        "Long greeting",
        "A greeting longer than this counts as voicemail.",
        8,
        2,
        30,
        false,
        when("voicemail_detection.enabled", true),
      ),
      setting(
        "voicemail_detection.use_workflow_llm",
        "boolean",
        "Also ask the language model",
        "Slower but more accurate.",
        {
          default: false,
          ...when("voicemail_detection.enabled", true),
        },
      ),
    ],
  },
  ...SOUND_SETTINGS,
  {
    title: "Vocabulary and phrases",
    properties: [
      setting(
        "dictionary",
        "string",
        "Dictionary",
        "Words that speech recognition should expect, one per line. Use “word = pronunciation” to control how a word is spoken.",
        { editor: "textarea" },
      ),
      ...PHRASES.map(([name, title, description, standard]) =>
        setting(`phrases.${name}`, "string", title, description, { placeholder: standard, editor: "textarea" }),
      ),
    ],
  },
];
