/** The editor of one agent. */

export { useAgent, useNodeTypes } from "./api";
export { Builder } from "./builder";
export { type Editor, useEditor } from "./editor";
export { Header } from "./header";
export { Inspector } from "./inspector";
export { SettingsPanel } from "./settings_panel";
export { VersionsPanel } from "./versions_panel";
