/** The list of agents, and making one. */

export { AgentsPage } from "./agents-page";
