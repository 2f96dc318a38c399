/** Writing with an agent instead of talking. */

export { ChatPanel } from "./chat-panel";
export { hasSpeech } from "./speech-ports";
export { SpokenPanel } from "./spoken-panel";
export { type Chat, useChat } from "./use-chat";
