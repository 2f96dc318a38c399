/** Agents: the list, one agent's graph, publishing. */

export { AgentHeader } from "./agent_header";
export { AgentsPage } from "./agents_page";
export { useAgent } from "./api";
export { FlowPanel } from "./flow_panel";
