/** The browser call. */

export { TalkPanel } from "./talk-panel";
export { type Call, useCall } from "./use-call";
export { isBusy } from "./call-state";
