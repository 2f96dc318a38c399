/** The editor of one agent. */

export { useNodeTypes } from "./api";
export { Builder } from "./builder";
export { type Editor, useEditor } from "./state/editor";
export { Header } from "./header/header";
export { Inspector } from "./forms/inspector";
export { ScenariosPanel } from "./scenarios/scenarios-panel";
export { SettingsPanel } from "./settings/settings-panel";
export { VersionsPanel } from "./panels/versions-panel";
