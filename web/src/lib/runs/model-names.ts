/** How models are called where the API names them by kind, provider and model. */

import { humanize } from "../format/format";

const KINDS: Partial<Record<string, string>> = {
  llm: "Language model",
  tts: "Voice",
  stt: "Speech recognition",
  realtime: "Speech-to-speech model",
  embedding: "Embeddings",
};

const PROVIDERS: Partial<Record<string, string>> = {
  anthropic: "Anthropic",
  assemblyai: "AssemblyAI",
  cartesia: "Cartesia",
  cloudonix: "Cloudonix",
  deepgram: "Deepgram",
  elevenlabs: "ElevenLabs",
  gemini_live: "Gemini Live",
  google: "Google",
  groq: "Groq",
  nova_sonic: "Amazon Nova Sonic",
  openai: "OpenAI",
  openai_realtime: "OpenAI Realtime",
  plivo: "Plivo",
  rime: "Rime",
  sandbox: "Sandbox",
  speechmatics: "Speechmatics",
  telnyx: "Telnyx",
  twilio: "Twilio",
  vobiz: "Vobiz",
  voice_pack: "Voice pack",
  vonage: "Vonage",
  xai_voice: "xAI Voice",
};

/** What comes with Offhook and has no vendor. */
const BUILTIN: Partial<Record<string, string>> = {
  rules: "Offline rules",
  builtin: "Offline rules",
  "espeak-ng": "Offline voice (eSpeak NG)",
  pocketsphinx: "Offline recognition (PocketSphinx)",
};
const BUILTIN_KINDS: Partial<Record<string, string>> = {
  llm: "Offline rules",
  tts: "Offline voice",
  stt: "Offline recognition",
};

export function modelKindName(kind: string): string {
  return KINDS[kind] ?? humanize(kind);
}

export function providerName(provider: string): string {
  return PROVIDERS[provider] ?? (provider === "builtin" ? "Offline" : provider);
}

/** "OpenAI gpt-4.1", "Offline voice (eSpeak NG)". */
export function modelName(provider: string, model: string): string {
  if (provider === "builtin") return BUILTIN[model] ?? `Offline ${model}`;
  return `${providerName(provider)} ${model}`.trim();
}

/** The provider of one kind where no model is named: "Offline voice", "Voice by ElevenLabs". */
export function servedBy(kind: string, provider: string): string {
  if (provider === "builtin") return BUILTIN_KINDS[kind] ?? "Offline model";
  return provider === "" ? modelKindName(kind) : `${modelKindName(kind)} by ${providerName(provider)}`;
}
