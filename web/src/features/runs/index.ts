/** What became of conversations. */

export { RunPage } from "./run_page";
export { RunsPage } from "./runs_page";
export { RunsPanel } from "./runs_panel";
