/** Writing with an agent instead of talking. */

export { ChatPanel } from "./chat_panel";
