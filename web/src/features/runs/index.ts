/** What became of conversations. */

export { RunPage } from "./run_page";
export { RunsPanel } from "./runs_panel";
