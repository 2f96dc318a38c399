/** Writing with an agent instead of talking. */

export { ChatPanel } from "./chat_panel";
export { SpokenPanel } from "./spoken_panel";
export { type Chat, useChat } from "./use_chat";
