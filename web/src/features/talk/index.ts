/** The browser call. */

export { TalkPanel } from "./talk_panel";
export { type Call, useCall } from "./use_call";
export { isBusy } from "./call_state";
