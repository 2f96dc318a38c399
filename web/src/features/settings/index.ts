/** How an organization is set up, and who may do what in it. */

export { SettingsPage, SettingsSection } from "./settings-page";
export { SecondFactorPanel } from "./account/second-factor-panel";
