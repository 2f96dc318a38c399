/** What became of conversations. */

export { useRunByNumber } from "./api";
export { RunPage } from "./detail/run-page";
export { RunsPage } from "./list/runs-page";
export { RunsPanel } from "./list/runs-panel";
