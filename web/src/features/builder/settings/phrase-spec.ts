/** What the agent says without a model: name, title, when, and what is said where nothing is set in English (voice/dialog/phrases.json). */

export const PHRASES = [
  ["filler", "Filler", "Said when a response takes too long.", "One moment, please."],
  [
    "reprompt",
    "Not understood",
    "Said when the caller was not understood, before the question is asked again.",
    "Sorry, I didn't catch that.",
  ],
  [
    "reprompt_again",
    "Not understood again",
    "Said before the question after a second miss, when the step has no example phrases and no keys.",
    "I'm sorry, I still didn't get that. Please say it in a few words.",
  ],
  [
    "reprompt_choices",
    "What can be said",
    "Said after a second miss. {{ choices }} are example phrases of the step's transitions.",
    "I still didn't get that. You can say: {{ choices }}.",
  ],
  [
    "reprompt_keys",
    "Which keys help",
    "Said after a third miss. {{ keys }} are the keys of the step's transitions.",
    "I'm afraid I can't make out the words. You can also press a key: {{ keys }}.",
  ],
  [
    "not_understood",
    "Goodbye after misses",
    "Said before the agent hangs up on a caller it cannot understand.",
    "I'm sorry, I couldn't understand you well enough. Thank you for your patience. Goodbye!",
  ],
  [
    "apology",
    "Apology",
    "Said before an error ends the call.",
    "I'm sorry, I am having technical trouble. Please call again later. Goodbye.",
  ],
  ["idle", "Silent caller", "Said when the caller is silent.", "Are you still there?"],
  [
    "idle_goodbye",
    "Silence goodbye",
    "Said before the agent hangs up.",
    "I can't hear you, so I will end the call now. Goodbye.",
  ],
  [
    "resumed",
    "After a break",
    "Said when a dropped connection is restored and the call continues.",
    "Sorry, we were cut off for a moment.",
  ],
  [
    "time_warning",
    "Time warning",
    "Said 20 seconds before the maximum call duration.",
    "Just so you know, we are almost out of time.",
  ],
  ["time_over", "Time limit reached", "Said at the maximum call duration.", "I'm sorry, our time is up. Goodbye."],
] as const;
